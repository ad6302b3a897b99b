import { mostRead } from '#relay/counting/unseen-input.ts'
import type { CallPrice } from './price-call.ts'

/** What a model can read at most. A price that has steps for long prompts says that it reads long ones. */
export const mostReadAt = ({ price }: Pick<CallPrice, 'price'>, model: string): number =>
  mostRead(model, price.kind === 'ratio' && (price.longContext ?? []).length > 0)
