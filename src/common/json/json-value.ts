/** A value that JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
/** A JSON object; what a node's output `data`, variables and run outputs are. */
export type JsonObject = { [key: string]: JsonValue };
