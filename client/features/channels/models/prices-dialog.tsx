import { Button, Dialog, HStack, Input, NativeSelect, Skeleton, Stack, Text, chakra } from '@chakra-ui/react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Check } from '../../../components/check.tsx'
import { Notice } from '../../../components/notice.tsx'
import { notify } from '../../../components/notify.ts'
import { ErrorState } from '../../../components/states.tsx'
import { LongDialog } from '../../../components/long-dialog.tsx'
import { WaitingFields } from '../../../components/waiting-fields.tsx'
import { t } from '../../../i18n/t.ts'
import { cataloguePrices } from '../../../lib/catalogue-prices.ts'
import { errorText } from '../../../lib/errors.ts'
import { useLeaveGuard } from '../../../lib/leave-guard.ts'
import { useSession } from '../../../lib/session.ts'
import { type Began, useSetPrices, useUnpricedTables } from '../../../lib/set-prices.ts'
import { useStatus } from '../../../lib/status.ts'
import type { DraftProblem, PriceDraft } from './prices.ts'
import { draftOf, problemOf, inputsOf } from './prices.ts'

type PricesDialogProps = { models: readonly string[]; onClose: () => void; intro?: string }

function useCatalogPrices(models: readonly string[]) {
  return useQuery({
    queryKey: [['admin', 'models', 'catalogPrices'], { all: true, models }],
    staleTime: Infinity,
    queryFn: () => cataloguePrices(models),
  })
}

/** List prices of models that have none, to be set as they are or changed first. */
export function PricesDialog({ models, onClose, intro }: PricesDialogProps) {
  const { isRoot } = useSession()
  const { quotaPerUnit } = useStatus()
  const catalog = useCatalogPrices(models)
  const save = useSetPrices()
  const tables = useUnpricedTables()
  const began = useRef<Began>(undefined)
  const [drafts, setDrafts] = useState<PriceDraft[]>()
  const listed = useMemo(
    () => catalog.data?.map(({ model, price }) => draftOf(model, price, quotaPerUnit)),
    [catalog.data, quotaPerUnit],
  )
  useEffect(() => {
    if (listed) setDrafts(listed)
  }, [listed])
  const isChanged = drafts !== undefined && JSON.stringify(drafts) !== JSON.stringify(listed)
  const guard = useLeaveGuard(isChanged, save.isPending)
  const close = () => void guard.close(onClose)
  const inputs = inputsOf(drafts ?? [], quotaPerUnit)
  const flawed = (drafts ?? []).some((draft) => draft.chosen && problemOf(draft) !== undefined)
  const unknown = (drafts ?? []).filter((draft) => draft.vendor === '').length

  const submit = async () => {
    // That they have no price is what the dialog says from the start; everything else the tables say of them may come later.
    began.current ??= { current: tables }
    await save.mutateAsync({ prices: inputs, began: began.current })
    notify.success(t('已设置 {count} 个模型的价格', { count: inputs.length }))
    guard.forget()
    close()
  }
  const change = (model: string, patch: Partial<PriceDraft>) =>
    setDrafts(drafts?.map((draft) => (draft.model === model ? { ...draft, ...patch } : draft)))
  const chosen = (drafts ?? []).filter((draft) => draft.chosen).length

  return (
    <LongDialog title={t('为 {count} 个模型设置价格', { count: models.length })} size="xl" onClose={close}>
      <Dialog.Body>
        <Stack gap="4">
          <Text color="fg.muted" textStyle="sm">
            {intro ?? t('没有价格的模型，普通用户调用时会被拒绝。')}
            {t('下面是公开目录中的官方价格，单位为美元每百万 tokens，可先修改再保存。')}
          </Text>
          {!isRoot && <Notice tone="warning">{t('只有超级管理员可以设置价格，请联系其处理。')}</Notice>}
          {unknown > 0 && <Notice>{t('目录中没有其中 {count} 个模型，请自行填写。', { count: unknown })}</Notice>}
          {catalog.isError ? (
            <ErrorState error={catalog.error} onRetry={() => void catalog.refetch()} />
          ) : drafts ? (
            <WaitingFields isSaving={save.isPending} gap="4">
              <PriceList
                drafts={drafts}
                disabled={!isRoot}
                allChosen={chosen === drafts.length ? true : chosen > 0 ? 'some' : false}
                onChange={change}
                onChooseAll={(on) => setDrafts(drafts.map((draft) => ({ ...draft, chosen: on })))}
              />
            </WaitingFields>
          ) : (
            models.slice(0, 6).map((model) => <Skeleton key={model} h="8" />)
          )}
          {save.error && (
            <Text role="alert" color="fg.error" textStyle="sm">
              {t('没有保存：{reason}', { reason: errorText(save.error) })}
            </Text>
          )}
        </Stack>
      </Dialog.Body>
      <Dialog.Footer>
        <Button onClick={close}>{isRoot ? t('以后再说') : t('关闭')}</Button>
        {isRoot && (
          <Button
            variant="solid"
            disabled={inputs.length === 0 || flawed}
            loading={save.isPending}
            onClick={() => void submit().catch(() => undefined)}
          >
            {t('设置 {count} 个价格', { count: inputs.length })}
          </Button>
        )}
      </Dialog.Footer>
    </LongDialog>
  )
}

type PriceListProps = {
  drafts: readonly PriceDraft[]
  disabled: boolean
  allChosen: boolean | 'some'
  onChange: (model: string, patch: Partial<PriceDraft>) => void
  onChooseAll: (chosen: boolean) => void
}

const Row = chakra('div', {
  base: {
    display: 'grid',
    gridTemplateColumns: {
      base: '20px minmax(0, 1fr) minmax(0, 1fr) minmax(0, 1fr)',
      md: '20px minmax(0, 1fr) 108px 92px 92px 92px',
    },
    columnGap: '3',
    rowGap: '1',
    alignItems: 'center',
    py: '1.5',
    borderBottomWidth: '1px',
    borderColor: 'border.muted',
  },
})

function PriceList({ drafts, disabled, allChosen, onChange, onChooseAll }: PriceListProps) {
  return (
    <Stack gap="0" textStyle="sm">
      <Row color="fg.muted" textStyle="xs">
        <Check roomy aria-label={t('全选')} checked={allChosen} disabled={disabled} onChange={onChooseAll} />
        <span>{t('模型')}</span>
        <chakra.span hideBelow="md">{t('计费')}</chakra.span>
        <chakra.span hideBelow="md" textAlign="end">
          {t('输入 $/M')}
        </chakra.span>
        <chakra.span hideBelow="md" textAlign="end">
          {t('输出 $/M')}
        </chakra.span>
        <chakra.span hideBelow="md" textAlign="end">
          {t('缓存 $/M')}
        </chakra.span>
      </Row>
      {drafts.map((draft) => (
        <PriceLine
          key={draft.model}
          draft={draft}
          disabled={disabled}
          onChange={(patch) => onChange(draft.model, patch)}
        />
      ))}
    </Stack>
  )
}

const problemWords = (problem: DraftProblem): string =>
  ({ missing: t('请填写价格'), number: t('请输入数字'), zero: t('模型价格不能为0') })[problem]

type PriceLineProps = { draft: PriceDraft; disabled: boolean; onChange: (patch: Partial<PriceDraft>) => void }

function PriceLine({ draft, disabled, onChange }: PriceLineProps) {
  const { model, chosen, kind, vendor } = draft
  const problem = chosen ? problemOf(draft) : undefined
  // Whoever types a price means to set it.
  const figure = (name: 'input' | 'output' | 'cached' | 'call', label: string) => (
    <Input
      size="xs"
      textAlign="end"
      inputMode="decimal"
      autoComplete="off"
      aria-label={`${model} ${label}`}
      placeholder={label}
      value={draft[name]}
      disabled={disabled}
      aria-invalid={problem !== undefined && (name === 'input' || name === 'call')}
      onChange={(event) => onChange({ [name]: event.target.value, chosen: true })}
    />
  )
  return (
    <Row>
      <Check
        roomy
        aria-label={t('选择 {name}', { name: model })}
        checked={chosen}
        disabled={disabled}
        onChange={(on) => onChange({ chosen: on })}
      />
      <HStack gap="2" minW="0" gridColumn={{ base: 'span 3', md: 'auto' }}>
        <Text as="span" fontFamily="mono" truncate data-tip={model}>
          {model}
        </Text>
        <Text as="span" textStyle="xs" color={problem ? 'fg.error' : 'fg.subtle'} flexShrink="0">
          {problem ? problemWords(problem) : vendor}
        </Text>
      </HStack>
      <chakra.span hideFrom="md" />
      <NativeSelect.Root size="xs" disabled={disabled} gridColumn={{ base: 'span 3', md: 'auto' }}>
        <NativeSelect.Field
          aria-label={t('{name} 的计费方式', { name: model })}
          value={kind}
          onChange={(event) => onChange({ kind: event.target.value === 'call' ? 'call' : 'tokens', chosen: true })}
        >
          <option value="tokens">{t('按量')}</option>
          <option value="call">{t('按次')}</option>
        </NativeSelect.Field>
        <NativeSelect.Indicator />
      </NativeSelect.Root>
      <chakra.span hideFrom="md" />
      {kind === 'call' ? (
        <chakra.div gridColumn="span 3">{figure('call', t('每次 $'))}</chakra.div>
      ) : (
        <>
          {figure('input', t('输入'))}
          {figure('output', t('输出'))}
          {figure('cached', t('缓存'))}
        </>
      )}
    </Row>
  )
}
