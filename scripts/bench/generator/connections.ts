import { Client } from 'undici'

/** Kept connections to one origin. Each carries one request at a time; when all are busy another one is opened. */
export function createConnections(origin: string) {
  const all: Client[] = []
  const free: Client[] = []
  return {
    take: (): Client => {
      const known = free.pop()
      if (known) return known
      const made = new Client(origin, { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 60_000, pipelining: 1 })
      all.push(made)
      return made
    },
    give: (client: Client): void => void free.push(client),
    close: async (): Promise<void> => {
      await Promise.all(all.map((client) => client.destroy()))
    },
  }
}

export type Connections = ReturnType<typeof createConnections>
