const mostListed = 1000

/** Numbers of tasks as callers list them. */
export const idsOf = (value: unknown): string[] =>
  Array.isArray(value)
    ? value
        .flatMap((id: unknown) => (typeof id === 'string' || typeof id === 'number' ? [String(id)] : []))
        .slice(0, mostListed)
    : []
