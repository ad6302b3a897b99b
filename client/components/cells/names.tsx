import { Badge, HStack, chakra } from '@chakra-ui/react'
import { Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import { t } from '../../i18n/t.ts'
import { CopyButton } from '../copy.tsx'
import { IconButton } from '../icon-button.tsx'
import { notify } from '../notify.ts'
import { None } from './numbers.tsx'
import { UserLink } from './user-link.tsx'

const Mono = chakra('span', {
  base: { fontFamily: 'mono', fontSize: '0.92em', overflow: 'hidden', textOverflow: 'ellipsis' },
})
const Part = chakra('span', { base: { overflow: 'hidden', textOverflow: 'ellipsis' } })
const Faint = chakra('span', { base: { color: 'fg.subtle', flexShrink: '0' } })

/** A model's name; where another one answered, both. */
export function ModelName({ name, used }: { name: string | null | undefined; used?: string | null | undefined }) {
  if (!name) return <None />
  if (!used || used === name) return <Mono data-tip={name}>{name}</Mono>
  return (
    <HStack as="span" gap="1" minW="0" display="inline-flex" maxW="full" data-tip={`${name} → ${used}`}>
      <Mono flexShrink="0" maxW="60%">
        {name}
      </Mono>
      <Faint aria-hidden>→</Faint>
      <Mono>{used}</Mono>
    </HStack>
  )
}

/** An id, a path, a code: what is read letter by letter. */
export function Code({ children }: { children: string | number | null | undefined }) {
  if (children === null || children === undefined || children === '') return <None />
  return <Mono data-tip={String(children)}>{children}</Mono>
}

export const maskKey = (key: string): string =>
  key.length <= 12 ? '••••••••' : `${key.slice(0, 6)}••••${key.slice(-4)}`

type KeyCellProps = {
  /** The key, or its masked form where `load` brings the whole one. */
  value: string
  /** Brings the key when it is asked for. */
  load?: () => Promise<string>
  /** Names the key for its buttons. */
  name: string
}

const RevealedKey = chakra('span', {
  base: { fontFamily: 'mono', textStyle: 'xs', lineHeight: '1.2', whiteSpace: 'normal', overflowWrap: 'anywhere' },
})

/** Masked until it is asked for, with a button that copies it. */
export const KeyCell = (props: KeyCellProps) => <MaskedKey {...props} key={props.value} />

/** Another key in its place is masked again. */
function MaskedKey({ value, load, name }: KeyCellProps) {
  const [shown, setShown] = useState<string>()
  const toggle = async () => {
    if (shown !== undefined) return setShown(undefined)
    try {
      setShown(load ? await load() : value)
    } catch (error) {
      notify.error(error)
    }
  }
  return (
    <HStack as="span" display="inline-flex" gap="0.5" maxW="full">
      {shown === undefined ? <Mono>{load ? value : maskKey(value)}</Mono> : <RevealedKey>{shown}</RevealedKey>}
      <IconButton
        size="2xs"
        icon={shown === undefined ? Eye : EyeOff}
        label={shown === undefined ? t('显示 {name}', { name }) : t('隐藏 {name}', { name })}
        onClick={() => void toggle()}
      />
      <CopyButton size="2xs" text={load ?? value} label={t('复制 {name}', { name })} />
    </HStack>
  )
}

type UserCellProps = { user: { id: number; username: string; displayName?: string | null } | null | undefined }

/** Name and, on hover, id and display name; it leads administrators to the account. */
export function UserCell({ user }: UserCellProps) {
  if (!user) return <None />
  const tip = [`#${user.id}`, user.displayName].filter(Boolean).join(' · ')
  return (
    <Part>
      <UserLink id={user.id} name={user.username} tip={tip} />
    </Part>
  )
}

/** A channel by its name and number; a number alone where it is gone. */
export function ChannelCell({ channel }: { channel: { id: number; name?: string | null } | null | undefined }) {
  if (!channel || channel.id === 0) return <None />
  return (
    <HStack as="span" display="inline-flex" gap="1.5" maxW="full">
      <Faint>#{channel.id}</Faint>
      <Part>{channel.name}</Part>
    </HStack>
  )
}

/** Short words in frames: groups, tags; what does not fit is on hover. */
export function Tags({ values, most = 3 }: { values: readonly string[]; most?: number }) {
  if (values.length === 0) return <None />
  const more = values.slice(most)
  return (
    <HStack as="span" display="inline-flex" gap="1" maxW="full">
      {values.slice(0, most).map((value) => (
        <Badge key={value}>{value}</Badge>
      ))}
      {more.length > 0 && <Badge data-tip={more.join('\n')}>+{more.length}</Badge>}
    </HStack>
  )
}
