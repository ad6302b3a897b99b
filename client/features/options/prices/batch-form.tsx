import { useWatch } from 'react-hook-form'
import type { z } from 'zod'
import { CardsField } from '../../../components/fields/cards-field.tsx'
import { NumberField } from '../../../components/fields/text-fields.tsx'
import { FieldRow, FormDrawer } from '../../../components/form-drawer.tsx'
import { notify } from '../../../components/notify.ts'
import { t } from '../../../i18n/t.ts'
import { useZodForm } from '../../../lib/form.ts'
import { type Began, useSetPrices } from '../../../lib/set-prices.ts'
import { useStatus } from '../../../lib/status.ts'
import { batchForm, chosenModels } from './form-rules.ts'
import { ratioWords } from './ratio-words.ts'

const blank: z.input<typeof batchForm> = { mode: 'both', price: null, ratio: null, completionRatio: null }

type BatchFormProps = { models: string[] | undefined; began: Began; onClose: () => void; onSaved: () => void }

/** One price for several models. */
export function BatchForm({ models, began, onClose, onSaved }: BatchFormProps) {
  const form = useZodForm({ schema: batchForm, values: blank })
  const { quotaPerUnit } = useStatus()
  const mode = useWatch({ control: form.control, name: 'mode' })
  const setPrices = useSetPrices()
  const save = async ({ price, ratio, completionRatio }: z.output<typeof batchForm>) => {
    const chosen = chosenModels(models)
    await setPrices.mutateAsync({
      prices: chosen.map((model) =>
        mode === 'price'
          ? { model, modelPrice: price ?? 0 }
          : {
              model,
              modelRatio: ratio ?? 0,
              ...(mode === 'both' && completionRatio !== null ? { completionRatio } : {}),
            },
      ),
      began,
    })
    notify.success(t('已为 {count} 个模型设置价格', { count: chosen.length }))
    onSaved()
  }
  return (
    <FormDrawer
      open={models !== undefined}
      onClose={onClose}
      title={t('为 {count} 个模型设置价格', { count: models?.length ?? 0 })}
      form={form}
      onSubmit={save}
    >
      <CardsField
        name="mode"
        label={t('设置方式')}
        choices={[
          { value: 'both', label: t('模型倍率和补全倍率同时设置') },
          { value: 'ratio', label: t('模型倍率') },
          { value: 'price', label: t('固定价格') },
        ]}
      />
      {mode === 'price' ? (
        <NumberField name="price" label={t('单次价格')} unit={t('美元')} required nullable />
      ) : (
        <FieldRow>
          <NumberField name="ratio" label={t('模型倍率')} help={ratioWords(quotaPerUnit)} required nullable />
          {mode === 'both' && <NumberField name="completionRatio" label={t('补全倍率')} required nullable />}
        </FieldRow>
      )}
    </FormDrawer>
  )
}
