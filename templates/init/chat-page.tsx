/// <reference lib="dom" />
/** @jsxImportSource react */
/** The page: the AI SDK's own `useChat`. A reload, or a lost connection, continues the answer where the server is. */
import { Chat, useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from "ai";
import { type FormEvent, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

const chatId = new URLSearchParams(location.search).get("chat") ?? "monday";

const chat = new Chat({
  id: chatId,
  messages: load(),
  transport: new DefaultChatTransport({ api: "/api/chat" }),
  sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
});

/** The messages stay in this browser. An application keeps them where its users look for them. */
function load(): UIMessage[] {
  return JSON.parse(localStorage.getItem(`chat ${chatId}`) ?? "[]") as UIMessage[];
}

function save(messages: UIMessage[]): void {
  localStorage.setItem(`chat ${chatId}`, JSON.stringify(messages));
}

/** Whether the server still owes an answer to this message. */
function isOpen(message: UIMessage | undefined): boolean {
  const isDecided = message?.parts.some((part) => isToolUIPart(part) && part.state === "approval-responded");
  return message?.role === "user" || isDecided === true;
}

/** Without an answer that has only begun: the server sends it from its start. */
function withoutBegun(messages: UIMessage[]): UIMessage[] {
  return messages.at(-1)?.role === "assistant" && !isOpen(messages.at(-1)) ? messages.slice(0, -1) : messages;
}

/** After a reload or a lost connection. */
async function continueAnswer(): Promise<void> {
  await chat.resumeStream();
  // It ended in the meantime: the same message again returns the same answer.
  if (chat.status === "ready" && isOpen(chat.messages.at(-1))) await chat.sendMessage();
}

async function reconnect(): Promise<void> {
  chat.messages = withoutBegun(chat.messages);
  await continueAnswer();
}

async function stop(): Promise<void> {
  // Closing the connection is not enough: the answer continues without it.
  await fetch(`/api/chat/${encodeURIComponent(chatId)}/stream`, { method: "DELETE" });
  await chat.stop();
}

function Part({ part }: { part: UIMessage["parts"][number] }) {
  if (part.type === "text") return <p>{part.text}</p>;
  if (!isToolUIPart(part)) return null;
  const decide = (approved: boolean) => () => {
    if (part.approval !== undefined) void chat.addToolApprovalResponse({ id: part.approval.id, approved });
  };
  return (
    <p>
      <code>
        {part.type.replace("tool-", "")} {JSON.stringify(part.input)}
      </code>{" "}
      <em>{part.state}</em>
      {part.state === "approval-requested" && (
        <>
          {" "}
          <button onClick={decide(true)}>Approve</button> <button onClick={decide(false)}>Deny</button>
        </>
      )}
    </p>
  );
}

function Page() {
  const { messages, status, sendMessage } = useChat({ chat });
  const [text, setText] = useState("");
  const isBusy = status === "submitted" || status === "streaming";

  useEffect(() => void continueAnswer(), []);
  useEffect(() => {
    // While an answer arrives, the message before it is what a reload needs.
    if (status === "ready") save(messages);
    if (status === "submitted") save(withoutBegun(messages));
  }, [messages, status]);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() !== "") void sendMessage({ text });
    setText("");
  };

  return (
    <main data-status={status}>
      {messages.map((message) => (
        <article key={message.id} data-role={message.role}>
          {message.parts.map((part, index) => (
            <Part key={index} part={part} />
          ))}
        </article>
      ))}
      {status === "error" && (
        <p role="alert">
          The connection was lost. <button onClick={() => void reconnect()}>Continue</button>
        </p>
      )}
      <form onSubmit={submit}>
        <input
          aria-label="Message"
          placeholder="Order 50 pears"
          value={text}
          disabled={isBusy}
          onChange={(event) => setText(event.target.value)}
        />
      </form>
      {isBusy && <button onClick={() => void stop()}>Stop</button>}
    </main>
  );
}

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<Page />);
