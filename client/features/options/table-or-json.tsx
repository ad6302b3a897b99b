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

/** The same options as a table to fill in, and as the JSON they are stored as. */
export function TwoWays({ param, label, table, text }: TwoWaysProps) {
  const [state, set] = useUrlState({ [param]: 'table' })
  const isText = table === undefined || state[param] === 'json'
  return (
    <Stack gap="3" gridColumn="1 / -1" minW="0">
      <Flex justify="flex-end">
        <SegmentGroup.Root
          size="xs"
          aria-label={label}
          value={isText ? 'json' : 'table'}
          onValueChange={({ value }) => set({ [param]: value ?? 'table' }, { replace: true })}
        >
          <SegmentGroup.Indicator />
          <SegmentGroup.Items
            items={[
              { value: 'table', label: t('表格'), disabled: table === undefined },
              { value: 'json', label: 'JSON' },
            ]}
          />
        </SegmentGroup.Root>
      </Flex>
      {isText ? text : table}
    </Stack>
  )
}
