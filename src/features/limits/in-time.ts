/**
 * An answer that has to come within `waitMs`. One that came while this process was busy was in time: what lies in the socket is read
 * before anybody gives up.
 */
export const inTime = <Answer>(answer: Promise<Answer>, waitMs: number, failure: () => Error): Promise<Answer> =>
  new Promise((resolve, reject) => {
    let isOpen = true
    const giveUp = (): void => {
      if (isOpen) reject(failure())
    }
    const timeout = setTimeout(() => setImmediate(giveUp), waitMs)
    answer.then(resolve, reject).finally(() => {
      isOpen = false
      clearTimeout(timeout)
    })
  })
