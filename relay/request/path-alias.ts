/** `/hf` in front of a path is an alias: what is said by paths holds below it too. */
export const withoutAlias = (path: string): string => path.replace(/^\/hf(?=\/)/, '')
