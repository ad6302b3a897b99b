import { Button, Dialog, HStack, Input, Stack, Text } from '@chakra-ui/react'
import { useMemo, useState } from 'react'
import type { ChannelType } from '#core/channel-types/index.ts'
import { Check } from '../../../components/check.tsx'
import { Option } from '../../../components/option-label.tsx'
import { Notice } from '../../../components/notice.tsx'
import { LongDialog } from '../../../components/long-dialog.tsx'
import { t } from '../../../i18n/t.ts'
import { useLeaveGuard } from '../../../lib/leave-guard.ts'
import { driftOf, mappedNames } from '#core/channel-types/drift.ts'
import { useUnpriced } from './use-unpriced.ts'

type ListName = 'upstream' | 'current' | 'default' | 'chosen'

type ModelPickerProps = {
  entry: ChannelType
  chosen: readonly string[]
  /** What the upstream lists, where it was asked. */
  upstream: readonly string[] | undefined
  modelMapping: string
  onChoose: (models: string[]) => void
  onClose: () => void
}

/** Models to tick: the upstream's own list, the type's current and default ones, and what is chosen already. */
export function ModelPicker({ entry, chosen, upstream, modelMapping, onChoose, onClose }: ModelPickerProps) {
  const lists = useMemo(
    () =>
      ({
        upstream: upstream ?? [],
        current: entry.currentModels,
        default: entry.defaultModels,
        chosen,
      }) satisfies Record<ListName, readonly string[]>,
    [entry, chosen, upstream],
  )
  const offered = (['upstream', 'current', 'default', 'chosen'] as const).filter((name) => lists[name].length > 0)
  const [list, setList] = useState<ListName>(upstream ? 'upstream' : (offered[0] ?? 'chosen'))
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set(chosen))
  const isChanged = picked.size !== chosen.length || chosen.some((model) => !picked.has(model))
  const guard = useLeaveGuard(isChanged)
  const close = () => void guard.close(onClose)
  const [typed, setTyped] = useState('')
  const words = typed.trim().toLowerCase()
  const shown = [...new Set(lists[list])].filter((model) => model.toLowerCase().includes(words))
  const unpriced = useUnpriced({ type: entry.type, models: lists[list], modelMapping })

  const set = (models: readonly string[], on: (model: string) => boolean) => {
    const next = new Set(picked)
    for (const model of models) {
      if (on(model)) next.add(model)
      else next.delete(model)
    }
    setPicked(next)
  }

  return (
    // The form below may claim the focus as this opens; that must not close it, nor a stray click lose what was ticked.
    <LongDialog title={t('选择模型')} size="md" onClose={close}>
      <Dialog.Body>
        <Stack gap="3">
          {upstream && (
            <DriftNotice
              own={[...picked]}
              upstream={upstream}
              mapped={mappedNames(modelMapping)}
              onApply={(models) => setPicked(new Set(models))}
            />
          )}
          <HStack gap="1" wrap="wrap" role="group" aria-label={t('模型来源')}>
            {offered.map((name) => (
              <Button
                key={name}
                size="xs"
                variant={name === list ? 'subtle' : 'ghost'}
                colorPalette={name === list ? 'accent' : undefined}
                aria-pressed={name === list}
                onClick={() => setList(name)}
              >
                {listTitle(name)} {new Set(lists[name]).size}
              </Button>
            ))}
          </HStack>
          <Input
            data-autofocus
            value={typed}
            placeholder={t('搜索模型')}
            aria-label={t('搜索模型')}
            onChange={(event) => setTyped(event.target.value)}
          />
          <HStack gap="1">
            <Button size="xs" variant="ghost" onClick={() => set(shown, () => true)}>
              {t('全选')}
            </Button>
            <Button size="xs" variant="ghost" onClick={() => set(shown, (model) => !picked.has(model))}>
              {t('反选')}
            </Button>
            <Button size="xs" variant="ghost" onClick={() => set(shown, () => false)}>
              {t('全不选')}
            </Button>
            <Text ms="auto" textStyle="xs" color="fg.muted" role="status">
              {t('显示 {count} 个', { count: shown.length })}
            </Text>
          </HStack>
          <Stack gap="0" role="group" aria-label={t('模型')} minH="48">
            {shown.map((model) => (
              <Option key={model}>
                <Check checked={picked.has(model)} onChange={(on) => set([model], () => on)} />
                <Text as="span" flex="1" minW="0" truncate fontFamily="mono">
                  {model}
                </Text>
                {unpriced.has(model) && (
                  <Text as="span" textStyle="xs" color="warning.fg" flexShrink="0">
                    {t('没有价格')}
                  </Text>
                )}
              </Option>
            ))}
            {shown.length === 0 && (
              <Text px="2" py="3" color="fg.muted" textStyle="sm">
                {t('没有匹配项')}
              </Text>
            )}
          </Stack>
        </Stack>
      </Dialog.Body>
      <Dialog.Footer>
        <Text me="auto" textStyle="sm" color="fg.muted">
          {t('已选择 {count} 项', { count: picked.size })}
        </Text>
        <Button onClick={close}>{t('取消')}</Button>
        <Button variant="solid" onClick={() => onChoose([...picked])}>
          {t('确认')}
        </Button>
      </Dialog.Footer>
    </LongDialog>
  )
}

const listTitle = (name: ListName): string =>
  ({
    upstream: t('上游'),
    current: t('常用'),
    default: t('默认'),
    chosen: t('已选'),
  })[name]

type DriftNoticeProps = {
  own: readonly string[]
  upstream: readonly string[]
  mapped: readonly string[]
  onApply: (models: readonly string[]) => void
}

function DriftNotice({ own, upstream, mapped, onApply }: DriftNoticeProps) {
  const { added, gone } = driftOf(own, upstream, mapped)
  if (added.length === 0 && gone.length === 0) return <Notice>{t('与上游的模型列表一致。')}</Notice>
  return (
    <Notice
      action={
        <Button
          size="xs"
          flexShrink="0"
          onClick={() => onApply([...own.filter((model) => !gone.includes(model)), ...added])}
        >
          {t('与上游保持一致')}
        </Button>
      }
    >
      {own.length === 0
        ? t('上游提供 {count} 个模型。', { count: upstream.length })
        : t('上游多出 {added} 个，已不再提供 {gone} 个。', { added: added.length, gone: gone.length })}
    </Notice>
  )
}
