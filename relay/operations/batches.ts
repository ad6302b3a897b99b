import type { ReportedUsage } from '#core/usage.ts'
import type { PlainRequest } from '#relay/providers/types.ts'

/** A request with more texts than the upstream embeds at once, in several. */
export function inBatches(asked: PlainRequest, mostInputs: number | undefined): PlainRequest[] {
  const { input } = asked.json
  if (mostInputs === undefined || !Array.isArray(input) || input.length <= mostInputs) return [asked]
  const count = Math.ceil(input.length / mostInputs)
  return Array.from({ length: count }, (_, index) => ({
    form: null,
    json: { ...asked.json, input: input.slice(index * mostInputs, (index + 1) * mostInputs) },
  }))
}

const rowsOf = (answer: unknown): unknown[] => {
  const rows = typeof answer === 'object' && answer !== null && 'data' in answer ? answer.data : undefined
  return Array.isArray(rows) ? rows : []
}

const sum = (left: number | null | undefined, right: number | null | undefined): number | undefined =>
  typeof left === 'number' && typeof right === 'number' ? left + right : undefined

/** The lists of several answers as one, counted through; without usage, which is distinguished. */
export function joined(answers: readonly unknown[]): unknown {
  const [first] = answers
  if (answers.length === 1) return first
  const data = answers.flatMap(rowsOf).map((row, index) => ({ ...Object(row), index }))
  const { usage: _, ...rest } = Object(first) as Record<string, unknown>
  return { ...rest, data }
}

/** What several calls used together; unknown as soon as one of them reports nothing. */
export const joinedUsage = (usages: readonly (ReportedUsage | undefined)[]): ReportedUsage | undefined =>
  usages.length === 1
    ? usages[0]
    : usages.reduce((total, usage) => {
        const promptTokens = sum(total?.promptTokens, usage?.promptTokens)
        return promptTokens === undefined ? undefined : { promptTokens }
      })
