import { Flex, SegmentGroup, Stack } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { t } from '../../i18n/t.ts'
import { useUrlState } from '../../lib/url-state.ts'

type TwoWaysProps = {
  /** The parameter of the address that says which way is shown. */
  param: string
  label: string
  /** Undefined where the stored text fits no table: then only the text is offered. */
  table: ReactNode | undefined
  text: ReactNode
}

/** Which of two ways is shown, as the address says, and the switch between them. */
export function useTwoWays({ param, label, hasTable }: { param: string; label: string; hasTable: boolean }) {
  const [state, set] = useUrlState({ [param]: 'table' })
  const isText = !hasTable || state[param] === 'json'
  const choice = (
    <SegmentGroup.Root
      size="xs"
      aria-label={label}
      value={isText ? 'json' : 'table'}
      onValueChange={({ value }) => set({ [param]: value ?? 'table' }, { replace: true })}
    >
      <SegmentGroup.Indicator />
      <SegmentGroup.Items
        items={[
          { value: 'table', label: t('表格'), disabled: !hasTable },
          { value: 'json', label: 'JSON' },
        ]}
      />
    </SegmentGroup.Root>
  )
  return { isText, choice }
}

/** The same options as a table to fill in, and as the JSON they are stored as. */
export function TwoWays({ param, label, table, text }: TwoWaysProps) {
  const { isText, choice } = useTwoWays({ param, label, hasTable: table !== undefined })
  return (
    <Stack gap="3" gridColumn="1 / -1" minW="0">
      <Flex justify="flex-end">{choice}</Flex>
      {isText ? text : table}
    </Stack>
  )
}
