import { awsKeyText } from '#test/simulator/aws/signature.ts'
import { baiduKeyText } from '#test/simulator/baidu/vendor.ts'
import { tencentKeyText } from '#test/simulator/tencent/vendor.ts'
import { serviceAccount } from '#test/simulator/vertex/account.ts'

export type MatrixUpstream = {
  id: string
  label: string
  /** Number of the channel's type. */
  type: number
  /** What the model is called upstream; callers call it by `modelOf`. */
  model: string
  key?: (url: string) => string
  baseUrl?: (url: string) => string
  other?: string
  /** The call that must reach the simulated provider. */
  path: RegExp
}

const claude = 'claude-sonnet-4-5-20250929'

/** Where channels lead: the simulated provider posing as each vendor, logins and signatures included. */
export const upstreams = [
  {
    id: 'openai',
    label: 'OpenAI-compatible',
    type: 1,
    model: 'gpt-5-mini',
    path: /^\/v1\/(chat\/completions|responses)$/,
  },
  {
    id: 'responses',
    label: 'OpenAI, a model of the responses call only',
    type: 1,
    model: 'gpt-5-codex',
    // The vendor's own address: only there some models are known to want the other call.
    baseUrl: () => 'https://api.openai.com',
    path: /^\/v1\/responses$/,
  },
  {
    id: 'azure',
    label: 'Azure OpenAI',
    type: 3,
    model: 'gpt-5-mini',
    path: /^\/openai\/(deployments\/gpt-5-mini\/chat\/completions|v1\/responses)$/,
  },
  { id: 'anthropic', label: 'Anthropic', type: 14, model: claude, path: /^\/v1\/messages$/ },
  {
    id: 'bedrock-claude',
    label: 'Bedrock, Claude by InvokeModel',
    type: 33,
    model: claude,
    key: () => awsKeyText,
    path: /^\/model\/us\.anthropic\.[^/]+\/invoke(-with-response-stream)?$/,
  },
  {
    id: 'bedrock-converse',
    label: 'Bedrock, Converse',
    type: 33,
    model: 'nova-2-lite-v1:0',
    key: () => awsKeyText,
    path: /^\/model\/[^/]*amazon\.nova-2-lite[^/]*\/converse(-stream)?$/,
  },
  {
    id: 'gemini',
    label: 'Gemini',
    type: 24,
    model: 'gemini-2.5-flash',
    path: /^\/v1beta\/models\/gemini-2\.5-flash:(g|streamG)enerateContent$/,
  },
  {
    id: 'vertex-gemini',
    label: 'Vertex AI, Gemini',
    type: 41,
    model: 'gemini-2.5-flash',
    key: serviceAccount,
    other: 'us-central1',
    path: /\/locations\/us-central1\/publishers\/google\/models\/gemini-2\.5-flash:(g|streamG)enerateContent$/,
  },
  {
    id: 'vertex-claude',
    label: 'Vertex AI, Claude',
    type: 41,
    model: claude,
    key: serviceAccount,
    other: 'us-east5',
    path: /\/publishers\/anthropic\/models\/claude-sonnet-4-5@20250929:(r|streamR)awPredict$/,
  },
  { id: 'cohere', label: 'Cohere', type: 34, model: 'command-a-reasoning-08-2025', path: /^\/v2\/chat$/ },
  {
    id: 'ollama',
    label: 'Ollama, its OpenAI surface',
    type: 4,
    model: 'qwen3:8b',
    path: /^\/v1\/chat\/completions$/,
  },
  {
    id: 'ollama-native',
    label: 'Ollama, its own call',
    type: 4,
    model: 'qwen3:8b',
    baseUrl: (url) => `${url}/api`,
    path: /^\/api\/chat$/,
  },
  {
    id: 'tencent',
    label: 'Tencent Hunyuan',
    type: 23,
    model: 'hunyuan-t1-latest',
    key: () => tencentKeyText,
    path: /^\/$/,
  },
  {
    id: 'baidu',
    label: 'Baidu Qianfan v1',
    type: 15,
    model: 'ERNIE-4.0-8K',
    key: () => baiduKeyText,
    path: /^\/rpc\/2\.0\/ai_custom\/v1\/wenxinworkshop\/chat\/completions_pro$/,
  },
  { id: 'coze', label: 'Coze', type: 49, model: 'a-bot', other: 'bot-1', path: /^\/v3\/chat$/ },
  { id: 'dify', label: 'Dify', type: 37, model: 'an-application', path: /^\/v1\/chat-messages$/ },
] as const satisfies MatrixUpstream[]

export type UpstreamId = (typeof upstreams)[number]['id']

/** Those that prove their reasoning. */
export const provenUpstreams: UpstreamId[] = [
  'responses',
  'anthropic',
  'bedrock-claude',
  'gemini',
  'vertex-gemini',
  'vertex-claude',
]

/** A name that no library and no price rule knows, so that nothing but the channel decides. */
export const modelOf = ({ id }: { id: string }): string => `by-${id}`
