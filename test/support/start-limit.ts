/**
 * The start function, but one that has not come to its end in time rejects and says where it was called. Hooks and tests have
 * time limits of their own; what a test file awaits at its top has none.
 */
export function withStartLimit<Given extends unknown[], Started>(
  start: (...given: Given) => Promise<Started>,
  seconds = 300,
): (...given: Given) => Promise<Started> {
  return (...given) => {
    // Made here, so that its stack names the test file.
    const late = new Error(`${start.name} has not come to its end within ${seconds} s`)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(late), seconds * 1000)
      start(...given)
        .then(resolve, reject)
        .finally(() => clearTimeout(timer))
    })
  }
}
