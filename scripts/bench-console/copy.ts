import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Client, Connection } from 'pg'

/** What of a connection a copy needs; the library has it, its types do not. */
type CopyConnection = Connection & {
  stream: Writable
  query: (text: string) => void
  sendCopyFromChunk: (chunk: Buffer) => void
  endCopyFrom: () => void
}

const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** One row in PostgreSQL's text form. */
export const copyLine = (values: readonly (string | number | boolean | null)[]): string =>
  `${values
    .map((value) =>
      value === null
        ? '\\N'
        : typeof value === 'string'
          ? value.replace(/[\\\t\n\r]/g, (sign) => escapes[sign] ?? '')
          : value,
    )
    .join('\t')}\n`

const chunkLength = 256 * 1024

/** Writes rows by COPY, the fastest way in; `target` is the table with its columns. */
export function copyInto(client: Client, target: string, lines: Iterable<string>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const send = async (connection: CopyConnection): Promise<void> => {
    let chunk = ''
    for (const line of lines) {
      chunk += line
      if (chunk.length < chunkLength) continue
      connection.sendCopyFromChunk(Buffer.from(chunk))
      chunk = ''
      if (connection.stream.writableNeedDrain) await once(connection.stream, 'drain')
    }
    if (chunk !== '') connection.sendCopyFromChunk(Buffer.from(chunk))
    connection.endCopyFrom()
  }
  // In the place of a query: the library hands every message of the server to it.
  const copy = {
    submit: (connection: Connection) => (connection as CopyConnection).query(`copy ${target} from stdin`),
    handleCopyInResponse: (connection: CopyConnection) => void send(connection).catch(reject),
    handleCommandComplete: () => {},
    handleReadyForQuery: () => resolve(),
    handleError: (error: Error) => reject(error),
  }
  client.query(copy)
  return promise
}
