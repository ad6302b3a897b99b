/**
 * Collects all that is not needed any more, and makes the young generation small again, which no other kind of collection does.
 * Undefined without `--expose-gc`.
 */
export const collectGarbage: (() => void) | undefined =
  globalThis.gc && (() => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }))
