/** A well-known service that has no number of its own: which number speaks its form, at which address. */
export type ChannelPreset = {
  id: string
  /** A proper name, the same in every language. */
  label: string
  type: number
  baseUrl: string
  /** How its keys begin, where they can be recognised by that. */
  keyHint?: string
}

/** Speak the OpenAI form below `/v1`. */
const openAiForm = 1
const messagesForm = 14

type Row = [id: string, label: string, baseUrl: string, keyHint?: string]

const toPreset = ([id, label, baseUrl, keyHint]: Row): ChannelPreset => ({
  id,
  label,
  type: openAiForm,
  baseUrl,
  ...(keyHint === undefined ? {} : { keyHint }),
})

const openAiHosts: Row[] = [
  ['groq', 'Groq', 'https://api.groq.com/openai', 'gsk_…'],
  ['together', 'Together AI', 'https://api.together.xyz'],
  ['fireworks', 'Fireworks', 'https://api.fireworks.ai/inference', 'fw_…'],
  ['cerebras', 'Cerebras', 'https://api.cerebras.ai', 'csk-…'],
  ['sambanova', 'SambaNova', 'https://api.sambanova.ai'],
  ['deepinfra', 'DeepInfra', 'https://api.deepinfra.com/v1/openai'],
  ['hyperbolic', 'Hyperbolic', 'https://api.hyperbolic.xyz'],
  ['nebius', 'Nebius Token Factory', 'https://api.tokenfactory.nebius.com'],
  ['novita', 'Novita', 'https://api.novita.ai/openai', 'sk_…'],
  ['nscale', 'nscale', 'https://inference.api.nscale.com'],
  ['inference-net', 'Inference.net', 'https://api.inference.net'],
  ['kluster', 'kluster.ai', 'https://api.kluster.ai'],
  ['featherless', 'Featherless', 'https://api.featherless.ai'],
  ['io-intelligence', 'IO Intelligence', 'https://api.intelligence.io.solutions/api'],
  ['nvidia', 'NVIDIA NIM', 'https://integrate.api.nvidia.com', 'nvapi-…'],
  ['huggingface', 'Hugging Face', 'https://router.huggingface.co', 'hf_…'],
  ['302', '302.AI', 'https://api.302.ai', 'sk-…'],
  ['cometapi', 'CometAPI', 'https://api.cometapi.com', 'sk-…'],
  ['stepfun', 'StepFun 阶跃星辰', 'https://api.stepfun.com'],
  ['baichuan', 'Baichuan 百川', 'https://api.baichuan-ai.com', 'sk-…'],
  ['upstage', 'Upstage', 'https://api.upstage.ai', 'up_…'],
  ['reka', 'Reka', 'https://api.reka.ai'],
  ['ai21', 'AI21', 'https://api.ai21.com/studio'],
  ['voyage', 'Voyage', 'https://api.voyageai.com', 'pa-…'],
]

export const channelPresets: readonly ChannelPreset[] = [
  ...openAiHosts.map(toPreset),
  { id: 'glm-coding', label: 'GLM Coding Plan', type: 26, baseUrl: 'https://open.bigmodel.cn/api/coding/paas/v4' },
  { id: 'zai', label: 'Z.ai', type: 26, baseUrl: 'https://api.z.ai' },
  { id: 'zai-coding', label: 'Z.ai Coding Plan', type: 26, baseUrl: 'https://api.z.ai/api/coding/paas/v4' },
  {
    id: 'kimi-coding',
    label: 'Kimi Coding Plan',
    type: 25,
    baseUrl: 'https://api.kimi.com/coding',
    keyHint: 'sk-kimi-…',
  },
  {
    id: 'moonshot-ai',
    label: 'Moonshot (api.moonshot.ai)',
    type: 25,
    baseUrl: 'https://api.moonshot.ai',
    keyHint: 'sk-…',
  },
  {
    id: 'ark-coding',
    label: 'Doubao Coding Plan',
    type: 45,
    baseUrl: 'https://ark.cn-beijing.volces.com/api/coding/v3',
  },
  { id: 'dashscope-intl', label: 'DashScope (Singapore)', type: 17, baseUrl: 'https://dashscope-intl.aliyuncs.com' },
  { id: 'dashscope-us', label: 'DashScope (Virginia)', type: 17, baseUrl: 'https://dashscope-us.aliyuncs.com' },
  {
    id: 'tokenhub-intl',
    label: 'Tencent TokenHub (Singapore)',
    type: 23,
    baseUrl: 'https://tokenhub-intl.tencentcloudmaas.com',
  },
  { id: 'minimax-cn', label: 'MiniMax (api.minimaxi.com)', type: 35, baseUrl: 'https://api.minimaxi.com' },
  { id: 'minimax-io', label: 'MiniMax (api.minimax.io)', type: 35, baseUrl: 'https://api.minimax.io' },
  {
    id: 'siliconflow-com',
    label: 'SiliconFlow (.com)',
    type: 40,
    baseUrl: 'https://api.siliconflow.com',
    keyHint: 'sk-…',
  },
  { id: 'coze-com', label: 'Coze (api.coze.com)', type: 49, baseUrl: 'https://api.coze.com', keyHint: 'pat_…' },
  {
    id: 'glm-coding-messages',
    label: 'GLM Coding Plan (Anthropic)',
    type: messagesForm,
    baseUrl: 'https://open.bigmodel.cn/api/anthropic',
  },
  {
    id: 'ark-coding-messages',
    label: 'Doubao Coding Plan (Anthropic)',
    type: messagesForm,
    baseUrl: 'https://ark.cn-beijing.volces.com/api/coding',
  },
]
