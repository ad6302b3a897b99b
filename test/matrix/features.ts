import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { goOn } from '#test/simulator/answer.ts'
import { pixel } from '#test/simulator/media.ts'
import type { Ask, ClientFacts, ObjectSchema, Turn } from '#test/sdk/clients/client.ts'

/** What a feature asks and may look at; every answer is checked for its bill by whoever hands this in. */
type Probe = {
  ask: (wanted: Omit<Ask, 'model'>) => Promise<Turn>
  /** What the library throws when it asks that. */
  fail: (wanted: Omit<Ask, 'model'>) => Promise<{ status: number | undefined; message: string }>
  facts: ClientFacts
  /** A word that no other cell says. */
  tag: string
  /** How often one request to the upstream held the first word that also held the second. */
  timesArrived: (word: string, beside: string) => number
  /** Whether the last request that held the word named an earlier answer for the vendor to find. */
  isReferring: (word: string) => boolean
  /** Tools and turns of the last request that held the word, each as the vendor's cache reads it. */
  promptOf: (word: string) => string[]
  /** How many proofs of its own reasoning the upstream was shown with the last request that held the word. */
  proofsShown: (word: string) => number
  /** The upstream proves its reasoning and wants the proof back. */
  proves: boolean
  /** What every answer's usage is. */
  usage: { input: number; output: number }
}

export type Feature = { id: string; label: string; check: (probe: Probe) => Promise<void> }

const toolOf = (name: string, property: string) => ({
  name,
  description: `Tells what ${name} tells.`,
  properties: { [property]: { type: 'string' as const } },
})
const weather = toolOf('get_weather', 'city')
const clock = toolOf('get_time', 'zone')

const place: ObjectSchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}

const fingerprint = createHash('sha256').update(pixel).digest('hex').slice(0, 16)

async function checkPlain({ ask, facts, usage }: Probe, stream: boolean): Promise<void> {
  const turn = await ask({ text: 'hello there', stream })
  assert.equal(turn.text, 'You said: hello there')
  assert.equal(turn.stop, facts.stop)
  assert.deepEqual(turn.usage, usage)
  assert.deepEqual(turn.calls, [])
}

async function checkTools({ ask, facts }: Probe): Promise<void> {
  for (const stream of [false, true]) {
    const question = { text: 'get_weather, city is Paris', tools: [weather], stream }
    const turn = await ask(question)
    assert.equal(turn.stop, facts.toolUse)
    assert.deepEqual(
      turn.calls.map((call) => [call.name, call.arguments]),
      [['get_weather', { city: 'Paris' }]],
    )
    const answer = await ask({ ...question, results: [{ turn, texts: ['21 degrees'] }] })
    assert.match(answer.text, /^The tool says: .*21 degrees/)
    assert.equal(answer.stop, facts.stop)
    assert.deepEqual(answer.calls, [])
  }
}

async function checkParallel({ ask, facts }: Probe): Promise<void> {
  for (const stream of [false, true]) {
    const question = { text: 'get_weather and get_time, city is Paris, zone is CET', tools: [weather, clock], stream }
    const turn = await ask(question)
    assert.equal(turn.stop, facts.toolUse)
    assert.deepEqual(
      turn.calls.map((call) => [call.name, call.arguments]),
      [
        ['get_weather', { city: 'Paris' }],
        ['get_time', { zone: 'CET' }],
      ],
    )
    const ids = turn.calls.map((call) => call.id).filter(Boolean)
    assert.equal(new Set(ids).size, ids.length, 'ids of calls differ')
    const answer = await ask({ ...question, results: [{ turn, texts: ['21 degrees', 'noon'] }] })
    assert.match(answer.text, /^The tool says: .*21 degrees.* \| .*noon/)
  }
}

async function checkImage({ ask, facts }: Probe): Promise<void> {
  for (const stream of [false, true]) {
    const turn = await ask({ text: 'look', image: pixel, stream })
    assert.equal(turn.text, `Image image/png ${pixel.length} bytes sha256 ${fingerprint}. You said: look`)
    assert.equal(turn.stop, facts.stop)
  }
}

async function checkThinking({ ask, facts }: Probe): Promise<void> {
  for (const stream of [false, true]) {
    const turn = await ask({ text: 'why is that', thinking: true, stream })
    assert.equal(turn.text, 'You said: why is that')
    assert.equal(turn.reasoning, 'Thinking about: why is that')
    assert.equal(turn.stop, facts.stop)
  }
}

async function checkReasoningLoop({ ask, facts, tag, proofsShown, proves }: Probe): Promise<void> {
  for (const stream of [false, true]) {
    const word = `loop-${tag}-${stream}`
    const question = { text: `${word} get_weather, city is Paris`, tools: [weather], thinking: true, stream }
    const rounds: { turn: Turn; texts: string[] }[] = []
    let turn = await ask(question)
    for (const result of [`one ${goOn}`, `two ${goOn}`, 'three']) {
      assert.equal(turn.stop, facts.toolUse)
      assert.equal(turn.calls.length, 1)
      rounds.push({ turn, texts: [result] })
      turn = await ask({ ...question, results: rounds })
      if (proves) assert.equal(proofsShown(word), rounds.length, 'proofs of its reasoning')
    }
    assert.match(turn.text, /^The tool says: .*three/)
  }
}

async function checkStructured({ ask }: Probe): Promise<void> {
  for (const stream of [false, true]) {
    const turn = await ask({ text: 'city is Rome', schema: place, stream })
    assert.deepEqual(JSON.parse(turn.text), { city: 'Rome' })
  }
}

async function checkSecondTurn({ ask, timesArrived, facts, tag }: Probe): Promise<void> {
  for (const stream of [false, true]) {
    const [first, second] = [`one-${tag}-${stream}`, `two-${tag}-${stream}`]
    const turn = await ask({ text: first, stream })
    assert.equal(turn.text, `You said: ${first}`)
    const answer = await ask({ text: second, stream, earlier: { text: first, turn } })
    assert.equal(answer.text, `You said: ${second}`)
    assert.equal(answer.stop, facts.stop)
    assert.equal(timesArrived(first, second), 2, 'the question and the answer before came along')
  }
}

async function checkReference({ ask, timesArrived, isReferring, facts, tag }: Probe): Promise<void> {
  for (const stream of [false, true]) {
    const [first, second] = [`named-${tag}-${stream}`, `again-${tag}-${stream}`]
    const turn = await ask({ text: first, stream })
    const answer = await ask({ text: second, stream, earlier: { text: first, turn }, byReference: true })
    assert.equal(answer.text, `You said: ${second}`)
    assert.equal(answer.stop, facts.stop)
    // The vendor finds what it keeps; to any other the gateway gives what it has kept.
    assert.ok(isReferring(second) || timesArrived(first, second) === 2, 'the earlier turn reached the upstream')
  }
}

/** What each of ten turns repeats of the one before stays as it was, so that a vendor finds it in its cache. */
async function checkCacheShare({ ask, tag, promptOf }: Probe): Promise<void> {
  const word = `cached-${tag}`
  const question = { text: `${word} get_weather, city is Paris`, tools: [weather] }
  const rounds: { turn: Turn; texts: string[] }[] = []
  let [repeated, found] = [0, 0]
  let turn = await ask(question)
  for (let number = 2; number <= 10; number += 1) {
    assert.equal(turn.calls.length, 1)
    const before = promptOf(word)
    rounds.push({ turn, texts: [`${number} ${goOn}`] })
    turn = await ask({ ...question, results: rounds })
    const after = promptOf(word)
    assert.ok(after.length > before.length, 'the conversation grew')
    const differs = before.findIndex((text, index) => after[index] !== text)
    const length = (texts: string[]): number => texts.reduce((sum, text) => sum + text.length, 0)
    repeated += length(before)
    found += length(differs < 0 ? before : before.slice(0, differs))
  }
  assert.equal(found / repeated, 1)
}

async function checkSearch({ ask, facts }: Probe): Promise<void> {
  for (const stream of [false, true]) {
    const turn = await ask({ text: 'get_weather, city is Paris', tools: [weather], search: true, stream })
    assert.equal(turn.stop, facts.toolUse)
    assert.deepEqual(
      turn.calls.map((call) => [call.name, call.arguments]),
      [['get_weather', { city: 'Paris' }]],
    )
  }
}

async function checkNamespace({ ask, facts }: Probe): Promise<void> {
  for (const stream of [false, true]) {
    const question = { text: 'city is Paris [[calls=1]]', tools: [weather], namespace: 'mcp__docs', stream }
    const turn = await ask(question)
    assert.equal(turn.stop, facts.toolUse)
    assert.deepEqual(
      turn.calls.map((call) => [call.name, call.arguments]),
      [['mcp__docs.get_weather', { city: 'Paris' }]],
    )
    const answer = await ask({ ...question, results: [{ turn, texts: ['21 degrees'] }] })
    assert.match(answer.text, /^The tool says: .*21 degrees/)
  }
}

/** Longer than most vendors take, as plug-ins of agents name their tools. */
const longNames = [
  toolOf('mcp__plugin_chrome-devtools-mcp_chrome-devtools__performance_analyze_insight', 'city'),
  toolOf('mcp__plugin_chrome-devtools-mcp_chrome-devtools__performance_start_recording', 'zone'),
]

async function checkLongNames({ ask, facts }: Probe): Promise<void> {
  for (const stream of [false, true]) {
    const question = { text: 'city is Paris, zone is CET [[calls=1]]', tools: longNames, stream }
    const turn = await ask(question)
    assert.equal(turn.stop, facts.toolUse)
    assert.deepEqual(
      turn.calls.map((call) => [call.name, call.arguments]),
      [[longNames[0]?.name, { city: 'Paris' }]],
    )
    const answer = await ask({ ...question, results: [{ turn, texts: ['21 degrees'] }] })
    assert.match(answer.text, /^The tool says: .*21 degrees/)
  }
}

/** As a vendor words it, and as each dialect's agents know it. */
const overflow = 'This model%27s maximum context length is 128000 tokens. Your messages resulted in 130001 tokens.'
const overflowWords =
  /maximum context length is 128000 tokens|prompt is too long: 130001 tokens > 128000 maximum|input token count \(130001\) exceeds the maximum number of tokens allowed \(128000\)/

async function checkOverflow({ fail }: Probe): Promise<void> {
  for (const stream of [false, true]) {
    const directives = `[[status=400,code=context_length_exceeded,message=${overflow}]]`
    const { status, message } = await fail({ text: `much too long ${directives}`, stream })
    assert.equal(status, 400)
    assert.match(message, overflowWords)
  }
}

/** What a caller wants of an answer, each in both ways of answering but where the way is the question. */
export const features = [
  { id: 'plain', label: 'plain', check: (probe) => checkPlain(probe, false) },
  { id: 'stream', label: 'stream', check: (probe) => checkPlain(probe, true) },
  { id: 'tools', label: 'tool round trip', check: checkTools },
  { id: 'parallel', label: 'parallel tools', check: checkParallel },
  { id: 'long-names', label: 'long tool names', check: checkLongNames },
  { id: 'search', label: 'search beside functions', check: checkSearch },
  { id: 'namespace', label: 'MCP namespace', check: checkNamespace },
  { id: 'second-turn', label: 'second turn', check: checkSecondTurn },
  { id: 'reference', label: 'second turn by reference', check: checkReference },
  { id: 'image', label: 'image', check: checkImage },
  { id: 'thinking', label: 'thinking', check: checkThinking },
  { id: 'reasoning-loop', label: 'thinking across a three-call tool loop', check: checkReasoningLoop },
  { id: 'cache-share', label: 'ten turns, all of each found again in the next', check: checkCacheShare },
  { id: 'overflow', label: 'context overflow', check: checkOverflow },
  { id: 'structured', label: 'structured output', check: checkStructured },
] as const satisfies Feature[]

export type FeatureId = (typeof features)[number]['id']
