/** Names as people type or paste them: separated by commas, blanks or line breaks, each once. */
export const namesIn = (text: string): string[] => [...new Set(text.split(/[\s,，]+/).filter(Boolean))]
