import type { ChatRequest, DialectId } from '#relay/chat/request.ts'
import { anthropic } from './anthropic/index.ts'
import { aws } from './aws/index.ts'
import { vertex } from './vertex/index.ts'
import { baidu } from './baidu/index.ts'
import { cohere } from './cohere/index.ts'
import { aiproxyLibrary } from './aiproxy-library/index.ts'
import { coze } from './coze/index.ts'
import { dify } from './dify/index.ts'
import { palm } from './palm/index.ts'
import { replicate } from './replicate/index.ts'
import { tencent } from './tencent/index.ts'
import { xunfei } from './xunfei/index.ts'
import { gemini } from './gemini/index.ts'
import { baiduV2 } from './openai-compatible/vendors/baidu-v2.ts'
import { azure } from './openai-compatible/vendors/azure.ts'
import { ollama } from './ollama/index.ts'
import { ali } from './openai-compatible/vendors/ali.ts'
import { zhipuV4 } from './openai-compatible/vendors/zhipu-v4.ts'
import { perplexity } from './openai-compatible/vendors/perplexity.ts'
import { mistral } from './openai-compatible/vendors/mistral.ts'
import { cloudflare } from './openai-compatible/vendors/cloudflare.ts'
import { custom } from './openai-compatible/vendors/custom.ts'
import { deepseek } from './openai-compatible/vendors/deepseek.ts'
import { fastgpt } from './openai-compatible/vendors/fastgpt.ts'
import { jina } from './openai-compatible/vendors/jina.ts'
import { mokaai } from './openai-compatible/vendors/mokaai.ts'
import { minimax } from './openai-compatible/vendors/minimax.ts'
import { moonshot } from './openai-compatible/vendors/moonshot.ts'
import { openai } from './openai-compatible/vendors/openai.ts'
import { openrouter } from './openai-compatible/vendors/openrouter.ts'
import { siliconflow } from './openai-compatible/vendors/siliconflow.ts'
import { volcengine } from './openai-compatible/vendors/volcengine.ts'
import { xai } from './openai-compatible/vendors/xai.ts'
import { zhipuV3 } from './zhipu-v3/index.ts'
import type { Provider } from './types.ts'

const providers: readonly Provider[] = [
  openai,
  anthropic,
  gemini,
  aws,
  vertex,
  cohere,
  tencent,
  baidu,
  dify,
  coze,
  palm,
  zhipuV3,
  aiproxyLibrary,
  replicate,
  xunfei,
  custom,
  azure,
  ollama,
  ali,
  zhipuV4,
  perplexity,
  mistral,
  cloudflare,
  openrouter,
  fastgpt,
  moonshot,
  minimax,
  siliconflow,
  jina,
  mokaai,
  deepseek,
  volcengine,
  baiduV2,
  xai,
]

const byType = new Map(providers.flatMap((provider) => provider.channelTypes.map((type) => [type, provider] as const)))

/** The provider of a channel type; an unknown number speaks the OpenAI form. */
export const providerFor = (channelType: number): Provider => byType.get(channelType) ?? openai

export const listProviders = (): readonly Provider[] => providers

/** The dialect a provider speaks natively is the one whose own fields it understands. */
export const nativeDialectOf = ({ native }: Provider): DialectId =>
  (Object.keys(native).find((id) => id !== 'openai-completions') as DialectId | undefined) ?? 'openai-chat'

type UpstreamPlace = { channel: { type: number; setting: Readonly<Record<string, unknown>> }; upstreamModel: string }

/** Whether the answer to such a call comes in one piece, whoever wants a stream of it: the channel or the model has no other. */
export const isUnstreamed = ({ channel, upstreamModel }: UpstreamPlace, request: ChatRequest): boolean =>
  channel.setting['stream_support'] === 'NON_STREAM_ONLY' ||
  providerFor(channel.type).chat.answersUnstreamed?.(request, upstreamModel) === true

/** Models that report their usage as Claude does are priced by its formula. */
export const isPricedAsClaude = (channelType: number, model: string): boolean =>
  providerFor(channelType).pricedAsClaude?.(model) === true
