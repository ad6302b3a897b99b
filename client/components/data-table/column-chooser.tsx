import { Button, HStack, Popover, Portal, Stack, Text, chakra } from '@chakra-ui/react'
import { ArrowDown, ArrowUp, Columns3 } from 'lucide-react'
import { t } from '../../i18n/t.ts'
import { Check } from '../check.tsx'
import { IconButton } from '../icon-button.tsx'
import type { ColumnLayout } from './layout.ts'
import { isShown, moveColumn, orderColumns, untouched } from './layout.ts'

type ChosenColumn = { id: string; title: string; hidden?: boolean; fixed?: boolean }

type ColumnChooserProps = {
  columns: readonly ChosenColumn[]
  layout: ColumnLayout
  onChange: (layout: ColumnLayout) => void
}

const Label = chakra('label', {
  base: { display: 'flex', alignItems: 'center', gap: '2', flex: '1', minW: '0', h: '7' },
})

/** Which columns are shown, and in which order. */
export function ColumnChooser({ columns, layout, onChange }: ColumnChooserProps) {
  const ordered = orderColumns(columns, layout)
  const show = (id: string, shown: boolean) => onChange({ ...layout, shown: { ...layout.shown, [id]: shown } })
  const showAll = () => onChange({ ...layout, shown: Object.fromEntries(columns.map(({ id }) => [id, true])) })
  return (
    <Popover.Root lazyMount unmountOnExit size="xs" positioning={{ placement: 'bottom-end' }}>
      <Popover.Trigger asChild>
        <IconButton icon={Columns3} label={t('列设置')} />
      </Popover.Trigger>
      <Portal>
        <Popover.Positioner>
          <Popover.Content w="64" aria-label={t('列设置')}>
            <Popover.Body maxH="96" overflowY="auto" py="2">
              <Stack as="ul" gap="0" listStyleType="none">
                {ordered.map((column, index) => (
                  <HStack as="li" key={column.id} gap="0">
                    <Label>
                      <Check
                        checked={isShown(column, layout)}
                        disabled={column.fixed ?? false}
                        onChange={(shown) => show(column.id, shown)}
                      />
                      <Text as="span" truncate>
                        {column.title}
                      </Text>
                    </Label>
                    <IconButton
                      size="2xs"
                      icon={ArrowUp}
                      label={t('上移「{title}」', { title: column.title })}
                      disabled={index === 0}
                      onClick={() => onChange(moveColumn(columns, layout, { id: column.id, by: -1 }))}
                    />
                    <IconButton
                      size="2xs"
                      icon={ArrowDown}
                      label={t('下移「{title}」', { title: column.title })}
                      disabled={index === ordered.length - 1}
                      onClick={() => onChange(moveColumn(columns, layout, { id: column.id, by: 1 }))}
                    />
                  </HStack>
                ))}
              </Stack>
            </Popover.Body>
            <HStack px="3" py="2" borderTopWidth="1px" justify="space-between">
              <Button size="xs" variant="ghost" onClick={showAll}>
                {t('全选')}
              </Button>
              <Button size="xs" variant="ghost" onClick={() => onChange(untouched)}>
                {t('重置')}
              </Button>
            </HStack>
          </Popover.Content>
        </Popover.Positioner>
      </Portal>
    </Popover.Root>
  )
}
