type Call = { id: string; name: string; hasOwnId: boolean; answered: boolean }
type Queue = { calls: Call[]; next: number }

function addTo(queues: Map<string, Queue>, key: string, call: Call): void {
  const queue = queues.get(key)
  if (queue) queue.calls.push(call)
  else queues.set(key, { calls: [call], next: 0 })
}

/** The oldest call under a key that has no result yet. Each is passed over once, however many there are. */
function oldestOf(queues: ReadonlyMap<string, Queue>, key: string): Call | undefined {
  const queue = queues.get(key)
  while (queue?.calls[queue.next]?.answered === true) queue.next += 1
  return queue?.calls[queue.next]
}

/** Calls without a result yet: a result goes to the one of its id, or to the oldest of its name. */
export function createPendingCalls() {
  const byId = new Map<string, Queue>()
  const byName = new Map<string, Queue>()
  const unnamed = new Map<string, Queue>()
  return {
    add(id: string, name: string, hasOwnId: boolean): void {
      const call = { id, name, hasOwnId, answered: false }
      addTo(byId, id, call)
      addTo(byName, name, call)
      if (!hasOwnId) addTo(unnamed, name, call)
    },
    /** The id of the call that a result answers. One with an id of the caller's own may answer a call that had none. */
    answer(id: string | undefined, name: string): string | undefined {
      const call = id === undefined ? oldestOf(byName, name) : (oldestOf(byId, id) ?? oldestOf(unnamed, name))
      if (call) call.answered = true
      return call?.id
    },
  }
}
