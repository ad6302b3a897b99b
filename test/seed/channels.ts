import { channelTypeOf } from '#core/channel-types/index.ts'
import { channelStatus } from '#core/statuses.ts'
import type { SeedContext } from './seed-context.ts'
import { minutesBefore } from './random.ts'

type ChannelInput = {
  name: string
  type: number
  /** Directives of the simulated provider, which stand in the address. */
  directives?: string
  keys: string[]
  models: string[]
  groups?: string[]
  tag?: string
  priority?: number
  weight?: number
  autoBan?: boolean
  status?: number
  statusReason?: string
  modelMapping?: string
  responseMs: number
  balance?: number
}

const openAiModels = [
  'gpt-4o',
  'gpt-4o-mini',
  'gpt-4.1',
  'gpt-4.1-mini',
  'gpt-5',
  'gpt-5-mini',
  'o4-mini',
  'text-embedding-3-small',
]
const claudeModels = ['claude-sonnet-4-5-20250929', 'claude-haiku-4-5-20251001', 'claude-opus-4-5-20251101']
const everyGroup = ['default', 'vip', 'research']

const inputs: ChannelInput[] = [
  {
    name: 'OpenAI 主账号',
    type: 1,
    keys: ['sk-demo-openai-1', 'sk-demo-openai-2', 'sk-demo-openai-3'],
    models: openAiModels,
    groups: everyGroup,
    tag: '主力',
    priority: 10,
    weight: 80,
    responseMs: 840,
    balance: 412.5,
  },
  {
    name: 'OpenAI 备用',
    type: 1,
    keys: ['sk-demo-openai-backup'],
    models: openAiModels,
    groups: everyGroup,
    tag: '备用',
    responseMs: 1210,
    balance: 37.2,
  },
  {
    name: 'Anthropic',
    type: 14,
    keys: ['sk-ant-demo'],
    models: claudeModels,
    groups: everyGroup,
    tag: '主力',
    priority: 10,
    responseMs: 1430,
  },
  {
    name: 'Gemini',
    type: 24,
    keys: ['AIza-demo'],
    models: ['gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-2.5-flash-lite'],
    groups: everyGroup,
    tag: '主力',
    priority: 10,
    responseMs: 960,
  },
  {
    name: '会员专线',
    type: 1,
    directives: 'gap=15',
    keys: ['sk-demo-vip'],
    models: ['gpt-5', 'gpt-4.1'],
    groups: ['vip'],
    tag: '专线',
    priority: 20,
    responseMs: 610,
    balance: 95,
  },
  {
    // Fails whenever it is asked, so that a retry can be watched; nothing switches it off.
    name: '不稳定的供应商',
    type: 1,
    directives: 'status=503,message=The%20engine%20is%20overloaded',
    keys: ['sk-demo-flaky'],
    models: ['gpt-4.1-mini', 'o4-mini'],
    priority: 10,
    weight: 20,
    autoBan: false,
    responseMs: 4210,
  },
  {
    name: '欠费账号',
    type: 1,
    directives: 'status=429,code=insufficient_quota,message=You%20exceeded%20your%20current%20quota',
    keys: ['sk-demo-unpaid'],
    models: ['gpt-4o', 'gpt-4o-mini'],
    tag: '备用',
    status: channelStatus.autoDisabled,
    statusReason: 'You exceeded your current quota, please check your plan and billing details.',
    responseMs: 780,
    balance: 0,
  },
  {
    name: '旧代理（已停用）',
    type: 1,
    keys: ['sk-demo-old'],
    models: ['gpt-4o-mini'],
    status: channelStatus.disabled,
    modelMapping: '{"gpt-4o-mini": "gpt-4o-mini-2024-07-18"}',
    responseMs: 2350,
  },
  {
    name: '绘图服务',
    type: 5,
    keys: ['mj-demo-secret'],
    models: channelTypeOf(5)?.defaultModels ?? [],
    groups: everyGroup,
    tag: '任务',
    responseMs: 640,
  },
  {
    name: '音乐服务',
    type: 36,
    keys: ['music-demo-secret'],
    models: channelTypeOf(36)?.defaultModels ?? [],
    groups: everyGroup,
    tag: '任务',
    responseMs: 710,
  },
]

/** These take jobs, not chats: the month of usage knows nothing of them. */
const takesTasks = ({ type }: { type: number }): boolean => channelTypeOf(type)?.supports.task === true

export type PlantedChannel = ChannelInput & { id: number; groups: string[]; keys: string[] }

/**
 * Channels on the simulated provider with their keys, the index by group and model, and a few probes. Resolves with those
 * that chat.
 */
export async function seedChannels(context: SeedContext): Promise<PlantedChannel[]> {
  const channels: PlantedChannel[] = []
  for (const input of inputs) {
    const groups = input.groups ?? ['default']
    const id = await insertChannel(context, { ...input, groups })
    channels.push({ ...input, id, groups })
  }
  const { db } = context
  await db.query(
    `insert into abilities ("group", model, channel_id, enabled, priority, weight, tag)
     select g, m, c.id, c.status = 1, c.priority, c.weight, c.tag
     from channels c, unnest(string_to_array(c."group", ',')) g, unnest(string_to_array(c.models, ',')) m`,
  )
  for (const channel of channels) await insertKeysAndProbes(context, channel)
  return channels.filter((channel) => !takesTasks(channel))
}

async function insertChannel(
  { db, secrets, now, upstreamUrl }: SeedContext,
  input: ChannelInput & { groups: string[] },
): Promise<number> {
  const { status = channelStatus.enabled, statusReason = '' } = input
  const keyText = input.keys.join(',')
  const checkedAt = minutesBefore(now, 25)
  const columns: Record<string, unknown> = {
    type: input.type,
    name: input.name,
    key_encrypted: secrets.encrypt(keyText),
    key_hmac: secrets.hmac(keyText),
    status,
    status_reason: statusReason,
    status_at: status === channelStatus.enabled ? null : minutesBefore(now, 400),
    base_url: input.directives ? `${upstreamUrl}/~${input.directives}` : upstreamUrl,
    models: input.models.join(','),
    group: input.groups.join(','),
    tag: input.tag ?? '',
    model_mapping: input.modelMapping ?? '',
    priority: input.priority ?? 0,
    weight: input.weight ?? 0,
    auto_ban: input.autoBan ?? true,
    balance: input.balance ?? 0,
    balance_currency: input.balance === undefined ? null : 'USD',
    balance_updated_at: input.balance === undefined ? null : checkedAt,
    response_time_ms: input.responseMs,
    tested_at: checkedAt,
    test_model: input.models[0],
    created_at: minutesBefore(now, 60 * 24 * 75),
  }
  const names = Object.keys(columns)
  const { rows } = await db.query<{ id: number }>(
    `insert into channels (${names.map((name) => `"${name}"`).join(', ')})
     values (${names.map((_, index) => `$${index + 1}`).join(', ')}) returning id`,
    Object.values(columns),
  )
  return rows[0]?.id ?? 0
}

async function insertKeysAndProbes({ db, secrets, now }: SeedContext, channel: PlantedChannel): Promise<void> {
  await db.query(
    `insert into channel_keys (channel_id, position, key_hmac)
     select $1, k.position - 1, k.hmac from unnest($2::text[]) with ordinality k(hmac, position)`,
    [channel.id, channel.keys.map(secrets.hmac)],
  )
  const success = !channel.directives?.includes('status=')
  const message = success ? '' : 'status 503: The engine is overloaded'
  // Such channels cannot be tested.
  if (takesTasks(channel)) return
  await db.query(
    `insert into channel_probes (channel_id, model, success, message, duration_ms, created_at)
     select $1, $2, $3, $4, $5 + n * 37, $6::timestamptz - make_interval(hours => n) from generate_series(1, 6) n order by n desc`,
    [channel.id, channel.models[0], success, message, channel.responseMs, now],
  )
}
