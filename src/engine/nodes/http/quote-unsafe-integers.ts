/** Strings, which are left alone, and numbers long enough to be integers that a double would round. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

/**
 * Puts integers beyond ±(2^53−1) in a JSON text in quotes, so that they keep their digits (decision 4): ids of many
 * services are such numbers.
 */
export function quoteUnsafeIntegers(json: string): string {
  if (!/\d{16}/.test(json)) return json;
  return json.replace(TOKEN, (token, at: number) => {
    if (token.startsWith('"') || Number.isSafeInteger(Number(token))) return token;
    // The last digits of a fraction or of an exponent.
    return /[.\d+eE]/.test(json.charAt(at - 1)) ? token : `"${token}"`;
  });
}
