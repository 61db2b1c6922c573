/** The HTTP API as the page uses it. Paths are relative to the base of the page, which may be mounted anywhere. */

export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export class ApiError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

export function apiUrl(path: string, query: Readonly<Record<string, string>> = {}): string {
  const url = new URL(`api/v1/${path}`, document.baseURI);
  for (const [name, value] of Object.entries(query)) if (value !== "") url.searchParams.set(name, value);
  return url.href;
}

/** @throws ApiError */
export async function get<T>(
  path: string,
  query: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<T> {
  return read<T>(apiUrl(path, query), signal === undefined ? {} : { signal });
}

/** @throws ApiError */
export async function post<T>(path: string, body: object = {}): Promise<T> {
  return read<T>(apiUrl(path), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function read<T>(url: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(url, { ...init, credentials: "same-origin" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(UNREACHABLE);
  }
  if (response.ok) return (await response.json()) as T;
  throw new ApiError(await problemOf(response));
}

export const UNREACHABLE: Problem = {
  status: 0,
  code: "UNREACHABLE",
  message: "The server does not answer.",
  hint: "Check that toolwright serve is running. The page reconnects by itself.",
};

async function problemOf(response: Response): Promise<Problem> {
  const { status } = response;
  try {
    const { error } = (await response.json()) as { error: Omit<Problem, "status"> };
    return { status, code: error.code, message: error.message, hint: error.hint };
  } catch {
    return { status, code: "UNEXPECTED", message: `The server answered with status ${status}.`, hint: "" };
  }
}

export function asProblem(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem;
  return { status: 0, code: "UNEXPECTED", message: String(error), hint: "" };
}
