import { ratioToDollars } from '#core/pricing/prices.ts'
import { Button, Text } from '@chakra-ui/react'
import { BadgeDollarSign, BookOpenText, CircleCheck } from 'lucide-react'
import { useRef, useState } from 'react'
import type { PriceTables } from '#core/pricing/tables.ts'
import { ModelName } from '../../../components/cells/names.tsx'
import { confirm } from '../../../components/confirm.tsx'
import { DataTable } from '../../../components/data-table/data-table.tsx'
import { FilterBar } from '../../../components/filter-bar/filter-bar.tsx'
import { notify } from '../../../components/notify.ts'
import { EmptyState } from '../../../components/states.tsx'
import { t } from '../../../i18n/t.ts'
import { cataloguePrices } from '../../../lib/catalogue-prices.ts'
import { priceText } from '../../../lib/format.ts'
import { usePaged } from '../../../lib/paged.ts'
import { useSetPrices, useUnpricedTables } from '../../../lib/set-prices.ts'
import { useStatus } from '../../../lib/status.ts'
import { trpc } from '../../../lib/trpc.ts'
import { useUrlState } from '../../../lib/url-state.ts'
import { BatchForm } from './batch-form.tsx'
import { PriceForm } from './price-form.tsx'
import { listedInput } from './rows.ts'

/** Enabled models that no table prices: ordinary users' calls of them are refused. */
export function UnsetModels() {
  const unset = trpc.admin.models.unset.useQuery()
  const [state, set] = useUrlState({ model: '', price: '' }, ['page'], ['price'])
  const wanted = state.model.toLowerCase()
  const { data, pageOf, table } = usePaged(unset.data?.filter((model) => model.toLowerCase().includes(wanted)))
  const [batch, setBatch] = useState<{ models: string[]; clear: () => void }>()
  const tables = useUnpricedTables()
  const began = useRef(tables)
  const openBatch = (models: string[], clear: () => void) => {
    began.current = tables
    setBatch({ models, clear })
  }
  const fill = useCatalogue()
  return (
    <>
      <DataTable
        id="unset-models"
        label={t('未设置倍率模型')}
        columns={[
          {
            id: 'model',
            title: t('模型'),
            grow: true,
            fixed: true,
            card: 'title',
            cell: (model) => <ModelName name={model} />,
            csv: (model) => model,
          },
        ]}
        rowId={(model) => model}
        rowLabel={(model) => model}
        query={{ ...unset, data }}
        paging={table}
        csvName="unset-models"
        csvPage={pageOf}
        onOpen={(model) => set({ price: model })}
        openRow={state.price || undefined}
        toolbar={
          <FilterBar
            query={{ id: 'model', placeholder: t('搜索模型名称') }}
            values={{ model: state.model }}
            onChange={set}
          />
        }
        rowActions={(model) => [
          { id: 'set', label: t('设置价格'), icon: BadgeDollarSign, onSelect: () => set({ price: model }) },
          { id: 'fill', label: t('从价格目录填入'), icon: BookOpenText, onSelect: () => void fill([model], tables) },
        ]}
        bulk={{
          filters: wanted,
          actions: ({ ids, clear }) => (
            <>
              <Button size="xs" onClick={() => openBatch(ids.map(String), clear)}>
                <BadgeDollarSign aria-hidden />
                {t('批量设置')}
              </Button>
              <Button size="xs" onClick={() => void fill(ids.map(String), tables).then((done) => done && clear())}>
                <BookOpenText aria-hidden />
                {t('从价格目录填入')}
              </Button>
            </>
          ),
        }}
        empty={
          state.model === '' ? (
            <EmptyState
              icon={CircleCheck}
              title={t('所有模型都已设置价格')}
              description={t('新渠道带来没有价格的模型时，会出现在这里。')}
            />
          ) : (
            <EmptyState
              title={t('没有匹配的模型')}
              action={<Button onClick={() => set({ model: '' })}>{t('清除筛选')}</Button>}
            />
          )
        }
      />
      <PriceForm
        opened={state.price === '' ? undefined : { model: state.price, row: undefined, tables }}
        onClose={() => set({ price: '' })}
      />
      <BatchForm
        models={batch?.models}
        began={began}
        onClose={() => setBatch(undefined)}
        onSaved={() => {
          batch?.clear()
          setBatch(undefined)
        }}
      />
    </>
  )
}

/** List prices of the public catalogue, shown before they are set; true once they are. */
function useCatalogue() {
  const { quotaPerUnit } = useStatus()
  const setPrices = useSetPrices()
  const inputPrice = ({ modelRatio }: { modelRatio: number }) => priceText(ratioToDollars(modelRatio, quotaPerUnit))
  return async (models: readonly string[], tables: PriceTables): Promise<boolean> => {
    const began = { current: tables }
    try {
      const answers = await cataloguePrices(models)
      const found = answers.flatMap(({ model, price }) => (price ? [{ model, price }] : []))
      if (found.length === 0) {
        notify.warning(t('价格目录中没有此模型，请自行填写'))
        return false
      }
      return await confirm({
        title: t('为 {count} 个模型填入官方价格？', { count: found.length }),
        body: (
          <>
            <Text fontFamily="mono" textStyle="xs" maxH="48" overflowY="auto" whiteSpace="pre-line" tabIndex={0}>
              {found.map(({ model, price }) => `${model}  ${inputPrice(price)} / 1M`).join('\n')}
            </Text>
            {found.length < models.length && (
              <Text mt="2">
                {t('目录中没有其余 {count} 个模型，它们保持不变。', { count: models.length - found.length })}
              </Text>
            )}
          </>
        ),
        confirmLabel: t('填入'),
        run: async () => {
          await setPrices.mutateAsync({
            prices: found.map(({ model, price }) => listedInput(model, price)),
            began,
          })
          notify.success(t('已为 {count} 个模型设置价格', { count: found.length }))
        },
      })
    } catch (error) {
      notify.error(error, t('填入官网倍率失败，请稍后重试'))
      return false
    }
  }
}
