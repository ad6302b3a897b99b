/**
 * PostgreSQL's JSON holds neither NUL nor half a surrogate pair, which callers may well send; JSON.stringify writes both as
 * escapes. An escaped backslash is passed over, so that a quoted `\\u0000` stays what it is.
 */
export const storableJson = (json: string): string =>
  /\\u(?:0000|d[89a-f])/.test(json)
    ? json.replace(/\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g, (escape) => (escape === '\\\\' ? escape : '\ufffd'))
    : json
