import { Box, Button, HStack, NativeSelect, Stack, Text } from '@chakra-ui/react'
import { Plus, Trash } from 'lucide-react'
import { useState } from 'react'
import { useFormContext, useWatch } from 'react-hook-form'
import { z } from 'zod'
import type { FieldProps } from '../../../components/fields/field-frame.tsx'
import { useField } from '../../../components/fields/field-frame.tsx'
import { FigureInput } from '../../../components/figure-input.tsx'
import { IconButton } from '../../../components/icon-button.tsx'
import { t } from '../../../i18n/t.ts'
import { TwoWaysField } from '../table-or-json.tsx'
import { isSameLine, type Line, type LineForm, limitLines, ratioLines } from './lines.ts'

type Table = { form: LineForm; groups: string[]; figures: string[]; initial: number[] }

const tableOf = (key: string): Table | undefined => {
  if (key === 'GroupGroupRatio') {
    return { form: ratioLines, groups: [t('用户所在分组'), t('使用的分组')], figures: [t('倍率')], initial: [1] }
  }
  if (key === 'ModelRequestRateLimitGroup') {
    const figures = [t('最多请求次数'), t('最多请求完成次数')]
    return { form: limitLines, groups: [t('分组')], figures, initial: [0, 1000] }
  }
  return undefined
}

export const hasGroupLines = (key: string): boolean => tableOf(key) !== undefined

/** What an option says about groups, a line each. */
export function GroupLinesField({ optionKey, ...frame }: FieldProps & { optionKey: string }) {
  const { field, state } = useField(frame.name)
  const table = tableOf(optionKey)
  const lines = table?.form.read(field.value)
  return (
    <TwoWaysField
      param={optionKey}
      label={t('{name}的编辑方式', { name: frame.label })}
      frame={frame}
      state={state}
      table={
        table &&
        lines && <Lines table={table} lines={lines} onChange={(next) => field.onChange(table.form.write(next))} />
      }
    />
  )
}

type LinesProps = { table: Table; lines: readonly Line[]; onChange: (lines: Line[]) => void }

function Lines({ table, lines, onChange }: LinesProps) {
  return (
    <Stack gap="3" w="full">
      {lines.length > 0 && (
        <Box as="ul" listStyleType="none" layerStyle="panel" textStyle="sm">
          {lines.map((line, place) => (
            <LineRow
              key={line.groups.join('\n')}
              table={table}
              line={line}
              onChange={(next) => onChange(lines.with(place, next))}
              onRemove={() => onChange(lines.toSpliced(place, 1))}
            />
          ))}
        </Box>
      )}
      <AddLine table={table} lines={lines} onAdd={(line) => onChange([...lines, line])} />
    </Stack>
  )
}

type LineRowProps = { table: Table; line: Line; onChange: (line: Line) => void; onRemove: () => void }

function LineRow({ table, line, onChange, onRemove }: LineRowProps) {
  const name = line.groups.join(' → ')
  return (
    <HStack as="li" gap="3" px="3" py="2" wrap="wrap" borderTopWidth="1px" _first={{ borderTopWidth: '0' }}>
      <Text fontFamily="mono" flex="1 1 120px" minW="0" truncate data-tip={name} fontWeight="medium">
        {name}
      </Text>
      {line.figures.map((figure, place) => (
        <HStack key={table.figures[place]} gap="2">
          <Text textStyle="xs" color="fg.muted" aria-hidden>
            {table.figures[place]}
          </Text>
          <Box w="24">
            <FigureInput
              label={`${name} ${table.figures[place]}`}
              value={figure}
              onChange={(next) => onChange({ ...line, figures: line.figures.with(place, next) })}
            />
          </Box>
        </HStack>
      ))}
      <IconButton size="xs" icon={Trash} label={t('移除 {name}', { name })} onClick={onRemove} />
    </HStack>
  )
}

const ratios = z.record(z.string(), z.unknown())

function useGroupNames(): string[] {
  const { control } = useFormContext()
  const text: unknown = useWatch({ control, name: 'GroupRatio' })
  try {
    return Object.keys(ratios.parse(JSON.parse(String(text))))
  } catch {
    return []
  }
}

type AddLineProps = { table: Table; lines: readonly Line[]; onAdd: (line: Line) => void }

function AddLine({ table, lines, onAdd }: AddLineProps) {
  const names = useGroupNames()
  const [chosen, setChosen] = useState<readonly string[]>(table.groups.map(() => ''))
  const isComplete = chosen.every((name) => names.includes(name))
  const isThere = lines.some(({ groups }) => isSameLine(groups, chosen))
  const add = () => {
    onAdd({ groups: chosen, figures: table.initial })
    setChosen(table.groups.map(() => ''))
  }
  return (
    <HStack gap="2" wrap="wrap">
      {table.groups.map((label, place) => (
        <NativeSelect.Root key={label} size="sm" w="44">
          <NativeSelect.Field
            aria-label={label}
            value={chosen[place] ?? ''}
            onChange={(event) => setChosen(chosen.with(place, event.target.value))}
          >
            <option value="">{label}</option>
            {names.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </NativeSelect.Field>
          <NativeSelect.Indicator />
        </NativeSelect.Root>
      ))}
      <Button size="sm" disabled={!isComplete || isThere} onClick={add}>
        <Plus aria-hidden />
        {t('添加')}
      </Button>
    </HStack>
  )
}
