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

type CheckProps = Omit<ComponentProps<typeof Box>, 'type' | 'onChange' | 'checked'> & {
  checked: boolean | 'some'
  onChange: (checked: boolean) => void
}

/** A plain tick box, cheap enough for every row of a table. */
export function Check({ checked, onChange, ...rest }: CheckProps) {
  return (
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
}
