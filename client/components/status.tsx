import { chakra } from '@chakra-ui/react'
import type { ReactNode } from 'react'

export type Tone = 'good' | 'warning' | 'bad' | 'neutral' | 'accent'

/** A shape for each tone, so that colour is never the only sign. */
const shapes: Record<Tone, ReactNode> = {
  good: <circle cx="4" cy="4" r="4" />,
  warning: <path d="M4 0.5 8 7.5H0z" />,
  bad: <rect x="0.5" y="0.5" width="7" height="7" rx="1" />,
  neutral: <circle cx="4" cy="4" r="3" fill="none" stroke="currentColor" strokeWidth="1.8" />,
  accent: <path d="M4 0 8 4 4 8 0 4z" />,
}

const Root = chakra('span', {
  // By its line: by the foot of the mark the word would stand half a pixel lower than those beside it.
  base: {
    display: 'inline-flex',
    alignItems: 'center',
    gap: '1.5',
    whiteSpace: 'nowrap',
    maxW: 'full',
    verticalAlign: 'top',
  },
})

const Mark = chakra('svg', {
  base: { flexShrink: '0', fill: 'currentColor', w: '8px', h: '8px' },
  variants: {
    tone: {
      good: { color: 'good.mark' },
      warning: { color: 'warning.mark' },
      bad: { color: 'bad.mark' },
      neutral: { color: 'fg.subtle' },
      accent: { color: 'accent.mark' },
    },
  },
})

type StatusProps = {
  tone: Tone
  children: ReactNode
  /** The reason, on hover. */
  tip?: string | undefined
}

/** A state in one word, with a shape and a colour. */
export function Status({ tone, children, tip }: StatusProps) {
  return (
    <Root data-tip={tip} tabIndex={tip ? 0 : undefined}>
      <StatusMark tone={tone} />
      {children}
    </Root>
  )
}

function StatusMark({ tone }: { tone: Tone }) {
  return (
    <Mark tone={tone} viewBox="0 0 8 8" aria-hidden>
      {shapes[tone]}
    </Mark>
  )
}
