import { Box, Grid, HStack, Input, Stack, Switch, Text } from '@chakra-ui/react'
import { Pencil, Trash } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { IconButton } from '../../../components/icon-button.tsx'
import { t } from '../../../i18n/t.ts'
import { AddGroup } from './add-group.tsx'
import { FigureInput } from '../../../components/figure-input.tsx'
import { groupRows, newRow, putRow, withoutRow, type GroupRow, type GroupTables } from './rows.ts'

/** Everybody begins in it. */
const standing = 'default'

/** On phones two columns, with the words of the head beside each field. */
const columns = { base: '1fr 1fr', sm: 'minmax(90px, 1fr) 84px 84px 64px minmax(120px, 1.6fr) 68px' }

type GroupTableProps = {
  tables: GroupTables
  onChange: (tables: GroupTables) => void
  /** Undefined while there are changes to save first, which would bring the old name back. */
  onRename: ((name: string) => void) | undefined
}

export function GroupTable({ tables, onChange, onRename }: GroupTableProps) {
  const rows = groupRows(tables)
  const words = [t('分组'), t('倍率'), t('充值倍率'), t('可选'), t('描述')]
  return (
    <Stack gap="3">
      <Box layerStyle="panel" textStyle="sm">
        <Grid
          templateColumns={columns}
          columnGap="3"
          px="3"
          py="2"
          color="fg.muted"
          textStyle="xs"
          fontWeight="medium"
          hideBelow="sm"
          aria-hidden
        >
          {words.map((word) => (
            <span key={word}>{word}</span>
          ))}
        </Grid>
        <Box as="ul" listStyleType="none" aria-label={t('分组')}>
          {rows.map((row) => (
            <Row
              key={row.name}
              row={row}
              onChange={(next) => onChange(putRow(tables, next))}
              onRename={onRename && (() => onRename(row.name))}
              onRemove={() => onChange(withoutRow(tables, row.name))}
            />
          ))}
        </Box>
      </Box>
      <AddGroup names={rows.map(({ name }) => name)} onAdd={(name) => onChange(putRow(tables, newRow(name)))} />
      <Text textStyle="xs" color="fg.muted">
        {t(
          '倍率乘在模型价格上；充值倍率乘在充值金额上，留空为 1。勾选“可选”后，所有用户都能在令牌和操练场中选择该分组。',
        )}
      </Text>
    </Stack>
  )
}

/** On phones the head is gone, and each field has its word. */
function Cell({ word, children, wide = false }: { word: string; children: ReactNode; wide?: boolean }) {
  return (
    <Box order="2" minW="0" gridColumn={wide ? { base: '1 / -1', sm: 'auto' } : undefined}>
      <Text textStyle="xs" color="fg.muted" mb="1" hideFrom="sm" aria-hidden>
        {word}
      </Text>
      {children}
    </Box>
  )
}

type RowProps = {
  row: GroupRow
  onChange: (row: GroupRow) => void
  onRename: (() => void) | undefined
  onRemove: () => void
}

function Row({ row, onChange, onRename, onRemove }: RowProps) {
  const { name } = row
  // The tables have a description only while the group can be chosen; it is not lost by looking what the switch does.
  const [lastDescription, keepDescription] = useState('')
  const setUsable = (isUsable: boolean) => {
    if (!isUsable) keepDescription(row.description)
    onChange({ ...row, isUsable, description: row.description || lastDescription || name })
  }
  return (
    <Grid
      as="li"
      templateColumns={columns}
      columnGap="3"
      rowGap="3"
      alignItems={{ base: 'start', sm: 'center' }}
      px="3"
      py={{ base: '3', sm: '1.5' }}
      borderTopWidth="1px"
      _first={{ borderTopWidth: { base: '0', sm: '1px' } }}
    >
      <Text fontFamily="mono" truncate data-tip={name} fontWeight="medium" alignSelf="center">
        {name}
      </Text>
      <Cell word={t('倍率')}>
        <FigureInput
          label={t('{name} 的倍率', { name })}
          value={row.ratio}
          onChange={(ratio) => onChange({ ...row, ratio })}
        />
      </Cell>
      <Cell word={t('充值倍率')}>
        <FigureInput
          label={t('{name} 的充值倍率', { name })}
          value={row.topupRatio}
          placeholder="1"
          onChange={(figure, isNumber) => onChange({ ...row, topupRatio: isNumber ? (figure ?? undefined) : null })}
        />
      </Cell>
      <Cell word={t('可选')}>
        <Switch.Root checked={row.isUsable} onCheckedChange={({ checked }) => setUsable(checked)}>
          <Switch.HiddenInput aria-label={t('用户可以选择 {name}', { name })} />
          <Switch.Control />
        </Switch.Root>
      </Cell>
      <Cell word={t('描述')} wide>
        <Input
          size="sm"
          aria-label={t('{name} 的描述', { name })}
          value={row.description}
          disabled={!row.isUsable}
          onChange={(event) => onChange({ ...row, description: event.target.value })}
        />
      </Cell>
      <Box order={{ base: '1', sm: '3' }} justifySelf="end">
        <HStack gap="1">
          <IconButton
            size="xs"
            icon={Pencil}
            label={onRename ? t('重命名分组 {name}', { name }) : t('先保存或放弃更改，再重命名分组 {name}', { name })}
            disabled={name === standing || !onRename}
            onClick={onRename}
          />
          <IconButton
            size="xs"
            icon={Trash}
            label={t('移除分组 {name}', { name })}
            disabled={name === standing}
            onClick={onRemove}
          />
        </HStack>
      </Box>
    </Grid>
  )
}
