import { IconButton as ChakraIconButton } from '@chakra-ui/react'
import type { IconButtonProps as ChakraIconButtonProps } from '@chakra-ui/react'
import type { LucideIcon } from 'lucide-react'
import type { Ref } from 'react'

export type IconButtonProps = Omit<ChakraIconButtonProps, 'children' | 'aria-label'> & {
  icon: LucideIcon
  /** What it does; read out, and shown on hover. */
  label: string
  /** For a label that names its row, a shorter hint on hover. */
  tip?: string
  ref?: Ref<HTMLButtonElement>
}

/** A button of one image, with the name that the image cannot give. */
export function IconButton({ icon: Icon, label, tip, ...rest }: IconButtonProps) {
  return (
    <ChakraIconButton variant="ghost" px="0" {...rest} aria-label={label} data-tip={tip ?? label}>
      <Icon aria-hidden />
    </ChakraIconButton>
  )
}
