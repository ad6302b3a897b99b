import { Flex, HStack, SegmentGroup, Stack } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { type BoundField, FieldFrame, type FieldProps } from '../../components/fields/field-frame.tsx'
import { JsonField } from '../../components/fields/text-fields.tsx'
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
function useTwoWays({ param, label, hasTable }: { param: string; label: string; hasTable: boolean }) {
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

type TwoWaysFieldProps = Omit<TwoWaysProps, 'text'> & { frame: FieldProps; state: BoundField['state'] }

/** A field as a table to fill in, and as the JSON it is stored as; the switch stands in the label's line. */
export function TwoWaysField({ param, label, table, frame, state }: TwoWaysFieldProps) {
  const { isText, choice } = useTwoWays({ param, label, hasTable: table !== undefined })
  const labelled = {
    ...frame,
    extra: (
      <HStack gap="1">
        {frame.extra}
        {choice}
      </HStack>
    ),
  }
  if (isText) return <JsonField {...labelled} rows={6} />
  return (
    <FieldFrame {...labelled} state={state}>
      {table}
    </FieldFrame>
  )
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
