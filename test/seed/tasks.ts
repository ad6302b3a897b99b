import { defaultQuotaPerUnit } from '#core/quota.ts'
import { logType } from '#core/statuses.ts'
import type { LogRow } from './calls.ts'
import type { Person } from './people.ts'
import { minutesBefore, oneOf } from './random.ts'
import type { SeedContext } from './seed-context.ts'
import type { PlantedToken } from './tokens.ts'

type Given = { people: Person[]; tokens: PlantedToken[] }

const groupRatios: Record<string, number> = { default: 1, vip: 0.8, research: 0.5 }
const callers = ['root', 'operator', 'xiaochen', 'maria']

const drawings = [
  { action: 'IMAGINE', prompt: '雨后的江南小巷，水墨风格', promptEn: 'An alley in Jiangnan after the rain, ink wash' },
  { action: 'UPSCALE', prompt: '雨后的江南小巷，水墨风格', promptEn: 'An alley in Jiangnan after the rain, ink wash' },
  { action: 'IMAGINE', prompt: 'a lighthouse at dawn, oil painting --ar 16:9', promptEn: 'a lighthouse at dawn' },
  {
    action: 'IMAGINE',
    prompt: '极简风格的茶叶包装',
    promptEn: 'Minimalist packaging of tea',
    failed: 'Banned prompt detected',
  },
  { action: 'VARIATION', prompt: '戴围巾的橘猫，童书插画', promptEn: 'An orange cat with a scarf, picture book' },
  { action: 'DESCRIBE', prompt: '', promptEn: '' },
]

const songs = [
  { action: 'MUSIC', prompt: '夏夜的城市，轻快的合成器流行乐', model: 'suno_music' },
  { action: 'LYRICS', prompt: '关于回家的歌词', model: 'suno_lyrics' },
  { action: 'MUSIC', prompt: 'a slow piano waltz', model: 'suno_music', failed: 'The generation timed out' },
]

const prices: Record<string, number> = { DESCRIBE: 0.05, MUSIC: 0.1, LYRICS: 0.01 }
const usualPrice = 0.1

type Task = {
  taskId: string
  action: string
  model: string
  channel: { id: number; name: string }
  at: Date
  seconds: number
}

/** Ended drawing and music tasks; resolves with the log rows of those that were charged. */
export async function seedTasks(context: SeedContext, { people, tokens }: Given): Promise<LogRow[]> {
  const { db } = context
  const { rows: channels } = await db.query<{ id: number; name: string; type: number }>(
    'select id, name, type from channels where type in (5, 36)',
  )
  const rows: LogRow[] = []
  // Lists are in the order of ids: the oldest goes in first.
  const planned: { at: Date; insert: () => Promise<void> }[] = []
  for (const [place, person] of people.filter(({ username }) => callers.includes(username)).entries()) {
    const token = tokens.find(({ userId }) => userId === person.id)
    const channelOf = (type: number) => channels.find((channel) => channel.type === type) ?? { id: 0, name: '' }
    for (const [index, drawing] of drawings.entries()) {
      const task: Task = {
        taskId: `17${String(place).padStart(2, '0')}5120441${String(index).padStart(4, '0')}`,
        action: drawing.action,
        model: `mj_${drawing.action.toLowerCase()}`,
        channel: channelOf(5),
        at: minutesBefore(context.now, 35 + place * 411 + index * 2_170),
        seconds: 42 + index * 9,
      }
      const row = drawing.failed === undefined ? chargeOf(person, token, task) : null
      planned.push({ at: task.at, insert: () => insertDrawing(context, { person, task, drawing, row }) })
      if (row) rows.push(row)
    }
    for (const [index, song] of songs.entries()) {
      const task: Task = {
        taskId: `demo-${place}-${index}-${Math.floor(context.random() * 1e9)}`,
        action: song.action,
        model: song.model,
        channel: channelOf(36),
        at: minutesBefore(context.now, 20 + place * 90 + index * 610),
        seconds: 95,
      }
      const row = song.failed === undefined ? chargeOf(person, token, task) : null
      planned.push({ at: task.at, insert: () => insertSong(context, { person, task, song, row }) })
      if (row) rows.push(row)
    }
  }
  for (const { insert } of planned.toSorted((one, other) => one.at.getTime() - other.at.getTime())) await insert()
  return rows
}

function chargeOf(person: Person, token: PlantedToken | undefined, task: Task): LogRow {
  const price = prices[task.action] ?? usualPrice
  const ratio = groupRatios[person.group] ?? 1
  return {
    created_at: task.at,
    user_id: person.id,
    type: logType.consume,
    content: `模型固定价格 ${price.toFixed(2)}，分组倍率 ${ratio.toFixed(2)}，操作 ${task.action}`,
    username: person.username,
    token_name: token?.name ?? '',
    token_id: token?.id ?? 0,
    model_name: task.model,
    quota: Math.round(price * ratio * defaultQuotaPerUnit),
    use_time_ms: 640,
    channel_id: task.channel.id,
    group: person.group,
    request_id: `${task.taskId}demo`,
    other: {
      model_price: price,
      group_ratio: ratio,
      operation: task.model.startsWith('mj_') ? 'drawing' : 'music',
      task_id: task.taskId,
      admin_info: {
        use_channel: [String(task.channel.id)],
        attempts: [
          {
            channel_id: task.channel.id,
            channel_name: task.channel.name,
            key_index: 0,
            status: 200,
            reason: '',
            ms: 640,
          },
        ],
      },
    },
  }
}

type Row = { person: Person; task: Task; row: LogRow | null }

const endOf = ({ at, seconds }: Task): Date => new Date(at.getTime() + seconds * 1000)

async function insertDrawing(
  { db, random, upstreamUrl }: SeedContext,
  { person, task, drawing, row }: Row & { drawing: (typeof drawings)[number] },
): Promise<void> {
  const failed = drawing.failed !== undefined
  const image =
    failed || drawing.action === 'DESCRIBE' ? '' : `${upstreamUrl}/media/painting-${Math.floor(random() * 1000)}.png`
  const buttons = ['U1', 'U2', 'V1', 'V2'].map((label) => ({
    customId: `demo::${label}`,
    emoji: '',
    label,
    style: 2,
    type: 2,
  }))
  await db.query(
    `insert into drawing_tasks (code, user_id, token_id, action, mj_id, prompt, prompt_en, description, submitted_at, started_at, finished_at,
       image_url, status, progress, fail_reason, channel_id, quota, buttons, request_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, '100%', $13, $14, $15, $16, $17)`,
    [
      1,
      person.id,
      row?.token_id ?? 0,
      drawing.action,
      task.taskId,
      drawing.prompt,
      drawing.promptEn,
      '提交成功',
      task.at,
      endOf(task),
      image,
      failed ? 'FAILURE' : 'SUCCESS',
      drawing.failed ?? '',
      task.channel.id,
      row?.quota ?? 0,
      image === '' ? null : JSON.stringify(buttons),
      row?.request_id ?? '',
    ],
  )
}

async function insertSong(
  { db, random }: SeedContext,
  { person, task, song, row }: Row & { song: (typeof songs)[number] },
): Promise<void> {
  const failed = song.failed !== undefined
  const clip = (number: number) => ({
    id: `${task.taskId}-${number}`,
    title: song.prompt.slice(0, 12),
    audio_url: `https://music.example/${task.taskId}-${number}.mp3`,
    status: 'complete',
    metadata: { tags: oneOf(random, ['pop', 'piano', 'synth']), prompt: song.prompt, duration: 120 },
  })
  const lyrics = {
    id: task.taskId,
    status: 'complete',
    title: song.prompt,
    text: '[Verse]\n灯火亮起的时候\n我正走在回家的路上',
  }
  const data = failed ? null : song.action === 'LYRICS' ? lyrics : [clip(1), clip(2)]
  await db.query(
    `insert into music_tasks (task_id, user_id, token_id, channel_id, quota, action, status, fail_reason, submitted_at, started_at,
       finished_at, progress, properties, data, request_id, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, '100%', $11, $12, $13, $9, $10)`,
    [
      task.taskId,
      person.id,
      row?.token_id ?? 0,
      task.channel.id,
      row?.quota ?? 0,
      song.action,
      failed ? 'FAILURE' : 'SUCCESS',
      song.failed ?? '',
      task.at,
      endOf(task),
      JSON.stringify({ input: song.prompt }),
      data && JSON.stringify(data),
      row?.request_id ?? '',
    ],
  )
}
