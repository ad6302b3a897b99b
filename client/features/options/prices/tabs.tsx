import { Button, SimpleGrid, Stack } from '@chakra-ui/react'
import { RotateCcw } from 'lucide-react'
import type { OptionField as Field } from '#core/options/describe.ts'
import { Link } from 'wouter'
import { confirm } from '../../../components/confirm.tsx'
import { Notice } from '../../../components/notice.tsx'
import { notify } from '../../../components/notify.ts'
import { UrlTabs } from '../../../components/url-tabs.tsx'
import { t } from '../../../i18n/t.ts'
import { reportedWhenFailed } from '../../../lib/query.ts'
import { trpc } from '../../../lib/trpc.ts'
import { OptionField } from '../option-field.tsx'
import { useChanges } from '../settings-form.ts'
import { UnsetModels } from './unset-models.tsx'
import { tableKeys } from './rows.ts'
import { VisualPrices } from './visual.tsx'

/** The same prices three ways: as a list, as the stored tables, and those that are still missing. */
export function PriceTabs({ fields }: { fields: readonly Field[] }) {
  const unset = trpc.admin.models.unset.useQuery(undefined, reportedWhenFailed)
  const count = unset.data?.length ?? 0
  const visual = (
    <Guarded>
      <VisualPrices />
    </Guarded>
  )
  const missing = (
    <Guarded>
      <UnsetModels />
    </Guarded>
  )
  return (
    <>
      <Notice
        action={
          <Button asChild size="xs">
            <Link href="/admin/prices">{t('模型与价格')}</Link>
          </Button>
        }
      >
        {t('在“模型与价格”页面可以直接编辑、预演和安排调价。')}
      </Notice>
      <UrlTabs
        param="ratio"
        label={t('倍率设置')}
        tabs={[
          { id: 'visual', label: t('可视化倍率设置'), content: visual },
          { id: 'model', label: t('模型倍率 JSON'), content: <TableTexts fields={fields} /> },
          {
            id: 'unset_models',
            label: count > 0 ? t('未设置倍率模型 ({count})', { count }) : t('未设置倍率模型'),
            content: missing,
          },
        ]}
      />
    </>
  )
}

/** Two ways of writing one table: whoever has typed into its text is warned before the other way overtakes it. */
function Guarded({ children }: { children: React.ReactNode }) {
  const isTyped = useChanges().some(({ key }) => tableKeys.some((table) => table === key))
  return (
    <Stack gap="3" minW="0">
      {isTyped && <Notice tone="warning">{t('价格表的 JSON 有未保存的修改；保存它会覆盖在这里设置的价格。')}</Notice>}
      {children}
    </Stack>
  )
}

function TableTexts({ fields }: { fields: readonly Field[] }) {
  const utils = trpc.useUtils()
  const reset = trpc.admin.options.resetModelRatio.useMutation()
  const ask = () =>
    confirm({
      title: t('重置模型倍率？'),
      body: t('模型倍率恢复为内置的默认值，自定义的倍率会丢失；固定价格、补全倍率和缓存倍率不变。'),
      confirmLabel: t('重置模型倍率'),
      danger: true,
      failed: (reason) => `${t('重置预设倍率失败，请重试')} ${reason}`,
      run: async () => {
        await reset.mutateAsync()
        await utils.admin.options.list.refetch()
        void utils.invalidate()
        notify.success(t('模型倍率已重置'))
      },
    })
  return (
    <Stack gap="4">
      <SimpleGrid columns={{ base: 1, lg: 2 }} columnGap="6" rowGap="4">
        {fields.map((field) => (
          <div key={field.key}>
            <OptionField field={field} />
          </div>
        ))}
      </SimpleGrid>
      <Button alignSelf="flex-start" variant="surface" colorPalette="bad" onClick={() => void ask()}>
        <RotateCcw aria-hidden />
        {t('重置模型倍率')}
      </Button>
    </Stack>
  )
}
