/** Far below what a call would notice. */
const longestSliceMs = 5

/**
 * Long work in slices: called between its steps, it gives a promise to await when the others have waited long enough, else
 * nothing.
 */
export function createSlices(): () => Promise<void> | undefined {
  let since = performance.now()
  const pause = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve))
    since = performance.now()
  }
  return () => (performance.now() - since > longestSliceMs ? pause() : undefined)
}
