/**
 * What every compaction written here begins with. Its caller wrote or was sent all that it holds and may say the same in a
 * message, so that nothing has to be hidden or proven: any process of any installation reads it.
 */
const mark = 'gatewayCompaction1'

/** A conversation summed up by a model, as the opaque text that its caller sends back in the place of what it sums up. */
export const writeCompaction = (summary: string): string => mark + Buffer.from(summary).toString('base64')

/** What a compaction says to the model that goes on from it; nothing where it was not written here. */
export function readCompaction(data: unknown): string | undefined {
  if (typeof data !== 'string' || !data.startsWith(mark)) return undefined
  const summary = Buffer.from(data.slice(mark.length), 'base64').toString('utf8')
  return `The earlier part of this conversation was replaced by a summary of it. The summary:\n\n${summary}`
}
