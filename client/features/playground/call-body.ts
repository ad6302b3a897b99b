import type { ModelParameters } from '#core/models/parameters.ts'
import type { CallBody, Message } from './reply.ts'
import { wireMessages } from './reply.ts'
import type { Settings } from './settings.ts'
import { wireTools } from './tools.ts'

export const effortIn = ({ effort }: Settings, { efforts }: ModelParameters): string =>
  (efforts as readonly string[]).includes(effort) ? effort : ''

/** Whether temperature and top_p are taken beside the chosen effort. */
export function samples(settings: Settings, parameters: ModelParameters): boolean {
  const effort = effortIn(settings, parameters) as NonNullable<ModelParameters['samplingEfforts']>[number]
  return parameters.sampling !== 'none' && (parameters.samplingEfforts?.includes(effort) ?? true)
}

function samplingOf(settings: Settings, parameters: ModelParameters): Pick<CallBody, 'temperature' | 'top_p'> {
  if (!samples(settings, parameters)) return {}
  const { temperature, temperatureSent, topP, topPSent } = settings
  const both = parameters.sampling === 'both'
  return {
    ...(temperatureSent && { temperature }),
    ...(topPSent && (both || !temperatureSent) && { top_p: topP }),
  }
}

/** A call with the parameters that its model takes; what was set for another model stays set, and is not sent. */
export function bodyOf(
  settings: Settings,
  { model, parameters }: { model: string; parameters: ModelParameters },
  messages: readonly Message[],
): CallBody {
  const { group, system, maxTokens, frequencyPenalty, presencePenalty, seed } = settings
  const effort = effortIn(settings, parameters)
  const tools = parameters.tools ? wireTools(settings.tools) : []
  return {
    model,
    group,
    messages: wireMessages(system, messages),
    stream: true,
    stream_options: { include_usage: true },
    ...samplingOf(settings, parameters),
    ...(maxTokens > 0 && { max_tokens: maxTokens }),
    ...(parameters.penalties && frequencyPenalty !== 0 && { frequency_penalty: frequencyPenalty }),
    ...(parameters.penalties && presencePenalty !== 0 && { presence_penalty: presencePenalty }),
    ...(parameters.seed && seed !== null && { seed }),
    ...(effort !== '' && { reasoning_effort: effort }),
    ...(tools.length > 0 && { tools }),
  }
}
