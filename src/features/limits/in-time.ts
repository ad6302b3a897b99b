/** However late one part of a wait ends, it counts as itself. */
const parts = 10

/**
 * An answer that has to come within `waitMs` of a process that runs. One that came while it was busy was in time: what lies in the
 * socket is read before anybody gives up. And who was held up together with whoever answers (paused with the machine) has hardly waited.
 */
export const inTime = <Answer>(answer: Promise<Answer>, waitMs: number, failure: () => Error): Promise<Answer> =>
  new Promise((resolve, reject) => {
    let isOpen = true
    let left = parts
    let timeout: NodeJS.Timeout
    const giveUp = (): void => {
      if (isOpen) reject(failure())
    }
    const wait = (): void => {
      left -= 1
      timeout = setTimeout(left > 0 ? wait : () => setImmediate(giveUp), waitMs / parts)
    }
    wait()
    answer.then(resolve, reject).finally(() => {
      isOpen = false
      clearTimeout(timeout)
    })
  })
