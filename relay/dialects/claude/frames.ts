/** One named event of a message stream; the name stands in both places, for clients read either. */
export const frame = (type: string, rest: string): string => `event: ${type}\ndata: {"type":"${type}"${rest}}\n\n`

export const blockStart = (index: number, block: object): string =>
  frame('content_block_start', `,"index":${index},"content_block":${JSON.stringify(block)}`)

export const blockStop = (index: number): string => frame('content_block_stop', `,"index":${index}`)

/** Constant text of a block's deltas up to the value; `deltaTail` follows the value. */
export const deltaHead = (index: number, type: string, field: string): string =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${field}":`

export const deltaEnd = '}}\n\n'
