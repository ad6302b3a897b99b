import { chakra } from '@chakra-ui/react'
import type { ComponentProps } from 'react'

const Box = chakra('input', {
  base: {
    appearance: 'auto',
    accentColor: 'accent.solid',
    w: '15px',
    h: '15px',
    m: '0',
    flexShrink: '0',
    cursor: 'pointer',
    verticalAlign: 'middle',
    focusVisibleRing: 'outside',
    borderRadius: 'xs',
    _disabled: { cursor: 'not-allowed', opacity: '0.5' },
  },
})

/** Room for a finger around a box without words; at the edge of what it stands in, it takes no more than the box would. */
const Room = chakra('label', {
  base: {
    display: 'inline-flex',
    alignItems: 'center',
    justifyContent: 'center',
    boxSize: '8',
    m: '-2',
    flexShrink: '0',
    cursor: 'pointer',
    verticalAlign: 'middle',
  },
})

type CheckProps = Omit<ComponentProps<typeof Box>, 'type' | 'onChange' | 'checked'> & {
  checked: boolean | 'some'
  onChange: (checked: boolean) => void
  /** It stands alone, without a label around it. */
  roomy?: boolean
}

/** A plain tick box, cheap enough for every row of a table. */
export function Check({ checked, onChange, roomy = false, ...rest }: CheckProps) {
  const box = (
    <Box
      {...rest}
      type="checkbox"
      checked={checked === true}
      ref={(element: HTMLInputElement | null) => {
        if (element) element.indeterminate = checked === 'some'
      }}
      onChange={(event) => onChange(event.target.checked)}
    />
  )
  return roomy ? <Room>{box}</Room> : box
}
