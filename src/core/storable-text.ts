/** The database keeps neither NUL nor half a surrogate pair, which callers and upstreams may well send. */
export const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed()
