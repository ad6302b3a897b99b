/** Operations whose answers are lists: of images, vectors, verdicts. */
const listing: ReadonlySet<string> = new Set(['embeddings', 'moderations', 'images', 'image-edits', 'rerank'])

/** Vendors name their lists differently, and some put them into an object of their own. */
const holdsList = (value: unknown, depth: number): boolean =>
  Array.isArray(value)
    ? value.length > 0
    : depth > 0 &&
      typeof value === 'object' &&
      value !== null &&
      Object.values(value).some((inner) => holdsList(inner, depth - 1))

/** Whether an upstream said 200 and gave nothing of what was asked for: such an answer is none, and is not charged. */
export const isEmptyAnswer = (operation: string, answer: unknown): boolean =>
  listing.has(operation) && !holdsList(answer, 2)
