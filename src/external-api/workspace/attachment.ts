/**
 * `Content-Disposition` of a download (RFC 6266): any name in `filename*`, and an ASCII one for old clients. A raw
 * Chinese name in a header makes Node refuse to send the answer.
 */
export function attachment(name: string, asciiName: string): string {
  return `attachment; filename="${asciiName.replace(/[^\w.-]/g, '_')}"; filename*=UTF-8''${encodeRfc5987(name)}`;
}

function encodeRfc5987(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
