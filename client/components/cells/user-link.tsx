import { chakra } from '@chakra-ui/react'
import type { MouseEvent, ReactNode } from 'react'
import { Link } from 'wouter'
import { useSession } from '../../lib/session.ts'
import { None } from './numbers.tsx'

const NameLink = chakra(Link, {
  base: {
    textDecoration: 'underline',
    textDecorationColor: 'border.emphasized',
    textUnderlineOffset: '3px',
    borderRadius: 'l1',
    focusVisibleRing: 'outside',
    _hover: { textDecorationColor: 'currentColor' },
  },
})

/** The page of an account. */
export const userPath = (id: number): string => `/app/users/${id}`

/** The row around opens something else. */
const stay = (event: MouseEvent) => event.stopPropagation()

type UserLinkProps = { id: number; name: string | null | undefined; children?: ReactNode; tip?: string | undefined }

/** A user's name, which leads administrators to the account. */
export function UserLink({ id, name, children, tip }: UserLinkProps) {
  const { isAdmin } = useSession()
  const words = children ?? name
  if (!words) return id > 0 ? <>#{id}</> : <None />
  if (!isAdmin || id <= 0) return <span data-tip={tip}>{words}</span>
  return (
    <NameLink href={userPath(id)} data-tip={tip} onClick={stay}>
      {words}
    </NameLink>
  )
}
