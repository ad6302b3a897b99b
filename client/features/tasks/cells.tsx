import { Badge, HStack, chakra } from '@chakra-ui/react'
import { Duration, Money, None } from '../../components/cells/numbers.tsx'
import { Status } from '../../components/status.tsx'
import type { PlainText } from '../../i18n/t.ts'
import { t } from '../../i18n/t.ts'
import { modeWords, stateOf } from './words.ts'

const Words = chakra('span', { base: { overflow: 'hidden', textOverflow: 'ellipsis' } })
const Returned = chakra('s', { base: { color: 'fg.muted' } })
const Figures = chakra('span', { base: { fontVariantNumeric: 'tabular-nums' } })

type Timed = { submittedAt: Date | null; finishedAt: Date | null }

/** From the submission to the end; null while there is none. */
export const durationOf = ({ submittedAt, finishedAt }: Timed): number | null =>
  submittedAt && finishedAt ? Math.max(0, finishedAt.getTime() - submittedAt.getTime()) : null

const longMs = 60_000

/** More than a minute is long. */
export const durationTone = (milliseconds: number | null) =>
  milliseconds !== null && milliseconds > longMs ? 'bad' : undefined

export function TaskDuration({ task }: { task: Timed }) {
  const milliseconds = durationOf(task)
  return <Duration milliseconds={milliseconds} tone={durationTone(milliseconds)} />
}

type Charged = { quota: number; status: string }

/** What a task cost in the end: a failed one nothing, since its charge was given back. */
export const costOf = ({ quota, status }: Charged): number => (status === 'FAILURE' ? 0 : quota)

/** With what was given back, struck through. */
export function TaskCost({ task }: { task: Charged }) {
  const cost = <Money quota={task.quota} digits={6} />
  return costOf(task) < task.quota ? <Returned>{cost}</Returned> : cost
}

export function TaskState({ task }: { task: { status: string; failReason: string } }) {
  const { tone, words } = stateOf(task.status)
  return (
    <Status tone={tone} tip={task.failReason || undefined}>
      {t(words)}
    </Status>
  )
}

/** A failed task has come nowhere. */
export function Progress({ task }: { task: { progress: string; status: string } }) {
  return task.status === 'FAILURE' || task.progress === '' ? <None /> : <Figures>{task.progress}</Figures>
}

type ActionProps = { action: string; words: Record<string, PlainText>; mode?: string }

/** What a task does; the upstream's own word where we have none. */
export function Action({ action, words, mode = '' }: ActionProps) {
  const lane = Object.hasOwn(modeWords, mode) ? modeWords[mode] : undefined
  return (
    <HStack as="span" display="inline-flex" gap="1.5" maxW="full">
      <Words data-tip={action}>{actionText(action, words)}</Words>
      {lane && <Badge>{t(lane)}</Badge>}
    </HStack>
  )
}

export function actionText(action: string, words: Record<string, PlainText>): string {
  const known = Object.hasOwn(words, action) ? words[action] : undefined
  return known ? t(known) : action
}
