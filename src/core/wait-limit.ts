/** However long a stretch between two looks, it counts as this part of the wait. */
const mostOfOneLook = 0.5

/**
 * Whether somebody who looks now and then has waited for `longestMs`. A process that was held up (paused with its machine) gave nobody the
 * time to change anything, so that no wait is over before it was looked at twice.
 */
export function createWaitLimit(longestMs: number, now: () => number): () => boolean {
  let last = now()
  let waited = 0
  return () => {
    const at = now()
    waited += Math.min(at - last, longestMs * mostOfOneLook)
    last = at
    return waited >= longestMs
  }
}
