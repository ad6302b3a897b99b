import type { ChatRequest } from './request.ts'

/** Whether the beginning of this prompt will probably be sent again soon: a conversation under way, or one with tools. */
export const isMultiTurn = ({ messages, tools }: ChatRequest): boolean =>
  tools.length > 0 || messages.some(({ role }) => role === 'assistant')
