import { Badge, Box, Flex, Grid, HStack, Text } from '@chakra-ui/react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import { Ruler } from 'lucide-react'
import { FigureInput } from '../../components/figure-input.tsx'
import { Check } from '../../components/check.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { t } from '../../i18n/t.ts'
import { abbreviate, formatDay, priceText } from '../../lib/format.ts'
import { useNow } from '../../lib/now.ts'
import { useIsPhone } from '../../lib/use-media.ts'
import {
  type Draft,
  draftOf,
  type Figure,
  type Fixed,
  fixedBy,
  inputOf,
  isUnreadable,
  type PriceRow,
} from './drafts.ts'
import { figures } from './figures.ts'

const template = '24px minmax(180px, 1.6fr) repeat(5, minmax(84px, 0.7fr)) minmax(120px, 1fr) minmax(110px, 1fr)'

type PriceTableProps = {
  rows: readonly PriceRow[]
  channelNames: readonly string[]
  drafts: ReadonlyMap<string, Draft>
  quotaPerUnit: number
  readOnly: boolean
  selected: ReadonlySet<string>
  onSelect: (models: readonly string[], on: boolean) => void
  onFigure: (row: PriceRow, figure: Figure, value: number | null) => void
  onLongContext: (row: PriceRow) => void
}

/** Thousands of models in one list; only those in sight are drawn. */
export function PriceTable(props: PriceTableProps) {
  const { rows, selected, onSelect } = props
  const phone = useIsPhone()
  const scroller = useRef<HTMLDivElement>(null)
  // oxlint-disable-next-line react/incompatible-library -- Only this table reads it, and it is drawn anew with each scroll.
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (phone ? 230 : 44),
    getItemKey: (index) => rows[index]?.model ?? index,
    overscan: 8,
  })
  const all = rows.length > 0 && rows.every(({ model }) => selected.has(model))
  const some = rows.some(({ model }) => selected.has(model))
  return (
    <Box
      ref={scroller}
      role="table"
      aria-label={t('模型价格')}
      aria-rowcount={rows.length + 1}
      layerStyle="panel"
      overflow="auto"
      // A height of its own on a phone, whose page scrolls: as high as its rows it would draw all of them.
      flex={{ base: 'none', sm: '1' }}
      minH="0"
      h={{ base: '70vh', sm: 'auto' }}
      textStyle="sm"
      tabIndex={0}
      focusVisibleRing="inside"
    >
      <Grid
        role="row"
        templateColumns={template}
        minW="5xl"
        columnGap="3"
        px="3"
        h="9"
        alignItems="center"
        position="sticky"
        top="0"
        zIndex="1"
        bg="bg.panel"
        borderBottomWidth="1px"
        color="fg.muted"
        textStyle="xs"
        fontWeight="medium"
        hideBelow="sm"
      >
        <span role="columnheader">
          <Check
            aria-label={t('选择全部 {count} 个模型', { count: rows.length })}
            checked={all ? true : some ? 'some' : false}
            onChange={(on) =>
              onSelect(
                rows.map(({ model }) => model),
                on,
              )
            }
          />
        </span>
        <span role="columnheader">{t('模型')}</span>
        {figures().map(({ id, label }) => (
          <Box key={id} role="columnheader" textAlign="end">
            {label}
          </Box>
        ))}
        <span role="columnheader">{t('倍率')}</span>
        <span role="columnheader">{t('渠道')}</span>
      </Grid>
      <Box role="rowgroup" position="relative" h={`${virtual.getTotalSize()}px`} minW={{ base: '0', sm: '5xl' }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index]
          if (!row) return null
          return (
            <Box
              key={row.model}
              ref={virtual.measureElement}
              data-index={index}
              position="absolute"
              insetX="0"
              top="0"
              transform={`translateY(${start}px)`}
            >
              <Row {...props} row={row} index={index} />
            </Box>
          )
        })}
      </Box>
    </Box>
  )
}

/** Below the name, two beside each other. */
const phoneColumns: Record<Figure, string> = {
  input: '2',
  output: '3',
  cacheRead: '2',
  cacheWrite: '3',
  call: '2 / -1',
}

function Row({
  row,
  index,
  drafts,
  quotaPerUnit,
  readOnly,
  channelNames,
  selected,
  onSelect,
  onFigure,
  onLongContext,
}: PriceTableProps & { row: PriceRow; index: number }) {
  const draft = drafts.get(row.model)
  const shown = draft ?? draftOf(row, quotaPerUnit)
  return (
    <Grid
      role="row"
      aria-rowindex={index + 2}
      templateColumns={{ base: '24px 1fr 1fr', sm: template }}
      columnGap="3"
      rowGap="2"
      px="3"
      py={{ base: '3', sm: '1' }}
      minH="11"
      alignItems="center"
      borderBottomWidth="1px"
      bg={draft ? 'accent.subtle' : undefined}
    >
      <span role="cell">
        <Check
          aria-label={t('选择 {name}', { name: row.model })}
          checked={selected.has(row.model)}
          onChange={(on) => onSelect([row.model], on)}
        />
      </span>
      <Flex role="cell" gap="1.5" minW="0" align="center" wrap="wrap" gridColumn={{ base: '2 / -1', sm: 'auto' }}>
        <Text as="span" fontFamily="mono" truncate data-tip={row.model} maxW="full">
          {row.model}
        </Text>
        <Marks row={row} />
      </Flex>
      {figures().map(({ id, label }) => (
        <Box role="cell" key={id} gridColumn={{ base: phoneColumns[id], sm: 'auto' }}>
          <Text textStyle="xs" color="fg.muted" mb="1" hideFrom="sm" aria-hidden>
            {label}
          </Text>
          <FigureCell
            row={row}
            figure={id}
            label={label}
            shown={shown}
            {...{ draft, quotaPerUnit, readOnly, onFigure }}
          />
        </Box>
      ))}
      <Flex
        role="cell"
        color="fg.muted"
        textStyle="xs"
        gap="1.5"
        align="center"
        justify="space-between"
        gridColumn={{ base: '2 / -1', sm: 'auto' }}
      >
        <Box minW="0">
          {ratioWords(row, shown, quotaPerUnit)}
          {shown.longContext.length > 0 && <Text>{longContextWords(shown)}</Text>}
        </Box>
        {shown.input !== null && shown.call === null && (
          <IconButton
            size="2xs"
            flexShrink="0"
            icon={Ruler}
            label={t('{model} 的长上下文价格', { model: row.model })}
            tip={t('长上下文价格')}
            color={shown.longContext.length > 0 ? 'accent.fg' : undefined}
            onClick={() => onLongContext(row)}
          />
        )}
      </Flex>
      <Text
        role="cell"
        truncate
        textStyle="xs"
        gridColumn={{ base: '2 / -1', sm: 'auto' }}
        {...tipOf(row, channelNames)}
      >
        {row.channelCount === 0 ? (
          <Text as="span" color="fg.subtle">
            {t('无渠道')}
          </Text>
        ) : (
          channelNames[row.channels[0] ?? -1]
        )}
        {row.channelCount > 1 && ` +${row.channelCount - 1}`}
      </Text>
    </Grid>
  )
}

type FigureProps = Pick<PriceTableProps, 'quotaPerUnit' | 'readOnly' | 'onFigure'> & {
  row: PriceRow
  figure: Figure
  label: string
  shown: Draft
  draft: Draft | undefined
}

const fixedWords = (fixed: Fixed): string => {
  if (fixed === 'name') return t('输出价格由模型名称决定，随输入价格变化')
  return fixed === 'call' ? t('按次计费的模型没有按量价格') : t('先填写输入价格')
}

/** One price; it says what it was where that differs, also where it has moved along with the input price. */
function FigureCell({ row, figure, label, shown, draft, quotaPerUnit, readOnly, onFigure }: FigureProps) {
  const fixed = fixedBy(row, shown, figure)
  const stored = draftOf(row, quotaPerUnit)[figure]
  const isChanged = draft !== undefined && draft[figure] !== stored
  return (
    <FigureInput
      label={`${row.model} ${label}`}
      value={shown[figure] ?? undefined}
      placeholder={isFurther(figure) && shown.input !== null && shown.call === null ? t('默认') : '–'}
      disabled={readOnly || fixed !== undefined}
      isChanged={isChanged}
      isLocked={fixed === 'name' && shown.output !== null}
      tip={
        [
          isChanged && (stored === null ? t('原来未设置') : t('原为 {price}', { price: priceText(stored) })),
          fixed && fixedWords(fixed),
        ]
          .filter(Boolean)
          .join('\n') || undefined
      }
      onChange={(value, isNumber) => onFigure(row, figure, isNumber ? value : Number.NaN)}
    />
  )
}

/** What is emptied follows from the input price by the usual ratio. */
const isFurther = (figure: Figure): boolean => figure !== 'input' && figure !== 'call'

const tipOf = ({ channels }: PriceRow, names: readonly string[]) =>
  channels.length === 0
    ? {}
    : {
        'data-tip': channels.map((place) => names[place]).join('\n'),
      }

function ratioWords(row: PriceRow, shown: Draft, quotaPerUnit: number): string {
  if (isUnreadable(shown)) return t('请输入数字')
  const input = inputOf(row.model, shown, quotaPerUnit)
  if ('modelPrice' in input) return t('按次计费')
  if ('removed' in input) return t('未设置')
  const { modelRatio, completionRatio = 1 } = input
  return t('{ratio} · 补全 {completion}', { ratio: modelRatio, completion: completionRatio ?? t('默认') })
}

const longContextWords = ({ longContext }: Draft): string => {
  const [first] = longContext
  if (!first) return ''
  const { above, input, output } = first
  return t('超过 {count} 为 {input} 倍 / {output} 倍', { count: abbreviate(above), input, output })
}

function Marks({ row }: { row: PriceRow }) {
  const now = useNow()
  return (
    <HStack gap="1" as="span" flexShrink="0">
      {row.isMissing && <Badge colorPalette="bad">{t('没有价格')}</Badge>}
      {row.price && row.price.source !== 'table' && <Badge colorPalette="warning">{t('兜底价格')}</Badge>}
      {row.retires && (
        <Badge
          colorPalette="warning"
          data-tip={row.successor ? t('厂商建议改用 {model}', { model: row.successor }) : undefined}
        >
          {row.retires > now
            ? t('{date} 停用', { date: formatDay(row.retires) })
            : t('已于 {date} 停用', { date: formatDay(row.retires) })}
        </Badge>
      )}
    </HStack>
  )
}
