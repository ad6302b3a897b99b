import { Button, Text } from '@chakra-ui/react'
import { BookOpenText } from 'lucide-react'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useFormContext, useWatch } from 'react-hook-form'
import type { PriceTables } from '#core/pricing/tables.ts'
import { CardsField } from '../../../components/fields/cards-field.tsx'
import { NumberField, TextField } from '../../../components/fields/text-fields.tsx'
import { FieldRow, FormDrawer, FormSection } from '../../../components/form-drawer.tsx'
import { notify } from '../../../components/notify.ts'
import { t } from '../../../i18n/t.ts'
import { useZodForm } from '../../../lib/form.ts'
import { tablesOf, useSetPrices } from '../../../lib/set-prices.ts'
import { useStatus } from '../../../lib/status.ts'
import { trpc } from '../../../lib/trpc.ts'
import { useFilled } from '../../../lib/use-filled.ts'
import { priceForm, type PriceValues } from './form-rules.ts'
import { ratioWords } from './ratio-words.ts'
import { blankFigures, inputOf, listedFigures, rowsOf, toDollars, toRatios, type PriceRow } from './rows.ts'

/** Stands in the address for a model that is still to be named. */
export const newPrice = '+'

function valuesOf(model: string, row: PriceRow | undefined, quotaPerUnit: number): PriceValues {
  if (!row) return { model, ...blankFigures }
  const { price, ratio, completionRatio, cacheRatio } = row
  const ratios = { ratio, completionRatio, cacheRatio }
  const dollars = toDollars(ratios, quotaPerUnit)
  return { model, ...blankFigures, ...ratios, ...dollars, price, kind: price === null ? 'tokens' : 'call' }
}

type PriceFormProps = {
  /** With the tables that show the row, or that there is none. */
  opened: { model: string; row: PriceRow | undefined; tables: PriceTables } | undefined
  onClose: () => void
}

/** The price of one model, by tokens or by call, in ratios or in dollars. */
export function PriceForm({ opened, onClose }: PriceFormProps) {
  const isNamed = opened !== undefined && opened.model !== ''
  const { quotaPerUnit } = useStatus()
  // By the tables it was opened with: a model that somebody else adds meanwhile is refused by the save, as any other price is.
  const [taken, setTaken] = useState<readonly string[]>([])
  const form = useZodForm({ schema: priceForm(isNamed ? [] : taken), values: valuesOf('', undefined, quotaPerUnit) })
  const setPrices = useSetPrices()
  const began = useRef(tablesOf())
  const { reset } = form
  const begin = useCallback(
    ({ values, tables }: { values: PriceValues; tables: PriceTables }, how: { keepDirtyValues: false }) => {
      reset(values, how)
      began.current = tables
      setTaken(rowsOf(tables).map(({ model }) => model))
    },
    [reset],
  )
  const opening = opened && `${quotaPerUnit} ${opened.model}`
  useFilled(
    begin,
    opening,
    opened && { values: valuesOf(opened.model, opened.row, quotaPerUnit), tables: opened.tables },
  )
  return (
    <FormDrawer
      open={opened !== undefined}
      onClose={onClose}
      title={isNamed ? t('编辑模型价格') : t('添加模型价格')}
      description={t('保存后立即生效。')}
      form={form}
      onSubmit={async (values) => {
        await setPrices.mutateAsync({ prices: [inputOf(values.model, values, quotaPerUnit)], began })
        notify.success(isNamed ? t('保存成功') : t('添加成功'))
      }}
    >
      <FormSection>
        <TextField name="model" label={t('模型名称')} required readOnly={isNamed} mono extra={<CatalogueButton />} />
        <CardsField
          name="kind"
          label={t('计费方式')}
          columns={2}
          choices={[
            { value: 'tokens', label: t('按量计费'), description: t('按输入和输出的 tokens') },
            { value: 'call', label: t('按次计费'), description: t('每次调用一个固定价格') },
          ]}
        />
        <Figures />
      </FormSection>
    </FormDrawer>
  )
}

function Figures() {
  const { control, setValue, getValues } = useFormContext<PriceValues>()
  const [kind, unit] = useWatch({ control, name: ['kind', 'unit'] })
  const { quotaPerUnit } = useStatus()
  const before = useRef(unit)
  useEffect(() => {
    if (before.current === unit) return
    before.current = unit
    const converted = unit === 'price' ? toDollars(getValues(), quotaPerUnit) : toRatios(getValues(), quotaPerUnit)
    for (const [name, value] of Object.entries(converted)) setValue(name as keyof PriceValues, value)
  }, [unit, getValues, setValue, quotaPerUnit])
  if (kind === 'call') return <NumberField name="price" label={t('单次价格')} unit={t('美元')} required nullable />
  return (
    <>
      <CardsField
        name="unit"
        label={t('价格设置方式')}
        columns={2}
        choices={[
          { value: 'price', label: t('按 token 价格'), description: t('美元每百万 tokens') },
          { value: 'ratio', label: t('按倍率'), description: ratioWords(quotaPerUnit) },
        ]}
      />
      {unit === 'ratio' ? (
        <>
          <NumberField name="ratio" label={t('模型倍率')} required nullable />
          <FieldRow>
            <NumberField name="completionRatio" label={t('补全倍率')} help={t('输出价格与输入价格之比')} nullable />
            <NumberField name="cacheRatio" label={t('缓存倍率')} help={t('缓存价格与输入价格之比')} nullable />
          </FieldRow>
        </>
      ) : (
        <>
          <NumberField name="input" label={t('输入价格')} unit="$/1M" required nullable />
          <FieldRow>
            <NumberField name="output" label={t('输出价格')} help={t('留空则按内置规则')} unit="$/1M" nullable />
            <NumberField name="cached" label={t('缓存价格')} help={t('留空则按内置规则')} unit="$/1M" nullable />
          </FieldRow>
        </>
      )}
      <Converted />
    </>
  )
}

/** The same price in the other way of saying it. */
function Converted() {
  const { control } = useFormContext<PriceValues>()
  const { quotaPerUnit } = useStatus()
  const values = useWatch({ control }) as PriceValues
  if (values.unit === 'ratio') {
    const { input, output, cached } = toDollars(values, quotaPerUnit)
    if (input === null) return null
    return (
      <Text textStyle="sm" color="fg.muted">
        {t('等于输入 ${input}、输出 ${output}、缓存 ${cached} 每百万 tokens', {
          input,
          output: output ?? '–',
          cached: cached ?? '–',
        })}
      </Text>
    )
  }
  const { ratio, completionRatio, cacheRatio } = toRatios(values, quotaPerUnit)
  if (ratio === null) return null
  return (
    <Text textStyle="sm" color="fg.muted">
      {t('等于模型倍率 {ratio}、补全倍率 {completion}、缓存倍率 {cache}', {
        ratio,
        completion: completionRatio ?? '–',
        cache: cacheRatio ?? '–',
      })}
    </Text>
  )
}

/** Fills in what the public price catalogue says of the model. */
function CatalogueButton() {
  const { getValues, setValue } = useFormContext<PriceValues>()
  const { quotaPerUnit } = useStatus()
  const utils = trpc.useUtils()
  const [working, setWorking] = useState(false)
  const fill = async () => {
    const asked = { ...getValues() }
    const model = asked.model.trim()
    if (model === '') return notify.warning(t('请先填写模型名称'))
    setWorking(true)
    try {
      const [found] = await utils.client.admin.models.catalogPrices.query({ models: [model] })
      if (!found?.price) return notify.warning(t('价格目录中没有此模型，请自行填写'))
      const figures = listedFigures(found.price, { asked, now: getValues(), quotaPerUnit })
      for (const [name, value] of Object.entries(figures)) {
        setValue(name as keyof PriceValues, value, { shouldDirty: name !== 'listed' })
      }
    } catch (error) {
      notify.error(error, t('获取预设倍率失败，请重试'))
    } finally {
      setWorking(false)
    }
  }
  return (
    <Button size="2xs" loading={working} onClick={() => void fill()}>
      <BookOpenText aria-hidden />
      {t('从价格目录填入')}
    </Button>
  )
}
