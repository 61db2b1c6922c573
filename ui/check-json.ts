/**
 * Checks a value against the parts of JSON Schema that tools use. It only helps while typing: the server checks the value
 * with the tool's own schema, and decides.
 */

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Problems as sentences; empty if there are none. */
export function checkJson(value: unknown, schema: object, path = ""): string[] {
  const rules = schema as Schema;
  const where = path === "" ? "The value" : path;
  if ("const" in rules && !isEqual(value, rules.const))
    return [`${where} must be ${JSON.stringify(rules.const)}.`];
  if (rules.enum !== undefined && !rules.enum.some((one) => isEqual(value, one))) {
    return [`${where} must be one of ${rules.enum.map((one) => JSON.stringify(one)).join(", ")}.`];
  }
  const types = rules.type === undefined ? [] : [rules.type].flat();
  if (types.length > 0 && !types.some((type) => hasType(value, type))) {
    return [`${where} must be ${types.map(withArticle).join(" or ")}, not ${withArticle(typeOf(value))}.`];
  }
  const alternatives = rules.anyOf ?? rules.oneOf;
  if (alternatives !== undefined && !alternatives.some((one) => checkJson(value, one, path).length === 0)) {
    return [`${where} matches none of the allowed forms.`];
  }
  return [
    ...(rules.allOf ?? []).flatMap((one) => checkJson(value, one, path)),
    ...checkSize(value, rules, where),
    ...checkParts(value, rules, path),
  ];
}

function checkSize(value: unknown, rules: Schema, where: string): string[] {
  const problems: string[] = [];
  const need = (isWrong: boolean, text: string): void => {
    if (isWrong) problems.push(`${where} must ${text}.`);
  };
  if (typeof value === "number") {
    need(rules.minimum !== undefined && value < rules.minimum, `be at least ${rules.minimum}`);
    need(rules.maximum !== undefined && value > rules.maximum, `be at most ${rules.maximum}`);
    need(
      rules.exclusiveMinimum !== undefined && value <= rules.exclusiveMinimum,
      `be more than ${rules.exclusiveMinimum}`,
    );
    need(
      rules.exclusiveMaximum !== undefined && value >= rules.exclusiveMaximum,
      `be less than ${rules.exclusiveMaximum}`,
    );
  }
  if (typeof value === "string") {
    need(
      rules.minLength !== undefined && value.length < rules.minLength,
      `have at least ${rules.minLength} characters`,
    );
    need(
      rules.maxLength !== undefined && value.length > rules.maxLength,
      `have at most ${rules.maxLength} characters`,
    );
  }
  if (Array.isArray(value)) {
    need(
      rules.minItems !== undefined && value.length < rules.minItems,
      `have at least ${rules.minItems} items`,
    );
    need(
      rules.maxItems !== undefined && value.length > rules.maxItems,
      `have at most ${rules.maxItems} items`,
    );
  }
  return problems;
}

function checkParts(value: unknown, rules: Schema, path: string): string[] {
  if (Array.isArray(value)) {
    const { items } = rules;
    if (typeof items !== "object") return [];
    return value.flatMap((item, index) => checkJson(item, items, `${path}[${index}]`));
  }
  if (typeof value !== "object" || value === null) return [];
  const { properties = {}, required = [], additionalProperties } = rules;
  const missing = required
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => `${join(path, name)} is missing.`);
  const fields = Object.entries(value).flatMap(([name, item]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known !== undefined) return checkJson(item, known, join(path, name));
    if (additionalProperties === false) return [`${join(path, name)} is not a known field.`];
    return typeof additionalProperties === "object"
      ? checkJson(item, additionalProperties, join(path, name))
      : [];
  });
  return [...missing, ...fields];
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function hasType(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  return typeOf(value) === type;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function withArticle(type: string): string {
  if (type === "null") return "null";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
