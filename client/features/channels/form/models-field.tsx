import { Button, HStack, Input, Tag, Wrap } from '@chakra-ui/react'
import { CloudDownload, ListChecks, TriangleAlert, X } from 'lucide-react'
import type { KeyboardEvent, Ref } from 'react'
import { useEffect, useRef, useState } from 'react'
import { useFormContext, useWatch } from 'react-hook-form'
import { type ChannelType, taskTypes } from '#core/channel-types/index.ts'
import { CopyButton } from '../../../components/copy.tsx'
import { FieldFrame, useField } from '../../../components/fields/field-frame.tsx'
import { notify } from '../../../components/notify.ts'
import { t } from '../../../i18n/t.ts'
import { isComposing } from '../../../lib/keyboard.ts'
import { useFetchModels } from '../models/fetch-models.ts'
import { namesIn } from '../models/typed-names.ts'
import { ModelPicker } from '../models/model-picker.tsx'
import { UnpricedNotice } from '../models/unpriced-notice.tsx'
import { useUnpriced } from '../models/use-unpriced.ts'
import type { ChannelValues } from './values.ts'

type ModelsFieldProps = { id: number | undefined; entry: ChannelType; stored: ChannelValues | undefined }

/** What the channel serves: chosen from lists, fetched from the upstream, or typed. */
export function ModelsField({ id, entry, stored }: ModelsFieldProps) {
  const { field, state } = useField('models')
  const models = field.value as string[]
  const form = useFormContext<ChannelValues>()
  const modelMapping = useWatch<ChannelValues, 'modelMapping'>({ name: 'modelMapping' })
  const unpriced = useUnpriced({ type: entry.type, models, modelMapping })
  const fetchModels = useFetchModels({ id, stored })
  const [picking, setPicking] = useState<{ upstream: string[] | undefined }>()
  const [isFetching, setFetching] = useState(false)

  const fetchUpstream = async () => {
    const values = form.getValues()
    if (id === undefined && values.key.trim() === '') {
      form.setError('key', { type: 'manual', message: 'channel.key_required' }, { shouldFocus: true })
      return
    }
    setFetching(true)
    try {
      setPicking({ upstream: await fetchModels(values) })
    } catch (error) {
      notify.error(error, t('没有取得上游的模型列表'))
    } finally {
      setFetching(false)
    }
  }
  // Models of drawing and music are a fixed list, which none of another type serves.
  const { type } = entry
  const typeBefore = useRef(type)
  useEffect(() => {
    const [before, isFixed] = [typeBefore.current, taskTypes.has(type)]
    typeBefore.current = type
    if (type === before || (!isFixed && !taskTypes.has(before))) return
    field.onChange(type === stored?.type ? stored.models : isFixed ? entry.defaultModels : [])
  }, [type, entry, stored, field])
  const preset = entry.currentModels.length > 0 ? entry.currentModels : entry.defaultModels

  return (
    <>
      <FieldFrame
        label={models.length > 0 ? t('模型（{count}）', { count: models.length }) : t('模型')}
        required
        state={state}
        extra={
          models.length > 0 && (
            <HStack gap="0">
              <CopyButton size="2xs" text={models.join(',')} label={t('复制全部模型名')} />
              <Button size="2xs" variant="ghost" onClick={() => field.onChange([])}>
                <X aria-hidden />
                {t('清空')}
              </Button>
            </HStack>
          )
        }
      >
        <HStack gap="2" wrap="wrap">
          <Button size="xs" onClick={() => setPicking({ upstream: undefined })}>
            <ListChecks aria-hidden />
            {t('选择模型')}
          </Button>
          {entry.modelsEndpoint !== null && (
            <Button size="xs" loading={isFetching} onClick={() => void fetchUpstream()}>
              <CloudDownload aria-hidden />
              {t('从上游获取')}
            </Button>
          )}
          {models.length === 0 && preset.length > 0 && (
            <Button size="xs" variant="ghost" onClick={() => field.onChange(preset)}>
              {t('填入常用的 {count} 个', { count: preset.length })}
            </Button>
          )}
        </HStack>
        <Chosen models={models} unpriced={unpriced} onChange={field.onChange} />
        <CustomName models={models} onChange={field.onChange} onBlur={field.onBlur} inputRef={field.ref} />
      </FieldFrame>
      <UnpricedNotice models={models.filter((model) => unpriced.has(model))} />
      {picking && (
        <ModelPicker
          entry={entry}
          chosen={models}
          upstream={picking.upstream}
          modelMapping={modelMapping}
          onClose={() => setPicking(undefined)}
          onChoose={(next) => {
            field.onChange(next)
            setPicking(undefined)
            void form.trigger('models')
          }}
        />
      )}
    </>
  )
}

type ChosenProps = { models: string[]; unpriced: ReadonlySet<string>; onChange: (models: string[]) => void }

function Chosen({ models, unpriced, onChange }: ChosenProps) {
  if (models.length === 0) return null
  return (
    <Wrap
      gap="1"
      maxH="44"
      overflowY="auto"
      w="full"
      p="2"
      borderWidth="1px"
      borderRadius="l2"
      role="group"
      aria-label={t('已选的模型')}
      tabIndex={0}
    >
      {models.map((model) => (
        <Tag.Root key={model} size="md" colorPalette={unpriced.has(model) ? 'warning' : 'neutral'} maxW="full">
          {unpriced.has(model) && (
            <Tag.StartElement data-tip={t('没有价格')}>
              <TriangleAlert aria-label={t('没有价格')} />
            </Tag.StartElement>
          )}
          <Tag.Label fontFamily="mono">{model}</Tag.Label>
          <Tag.EndElement>
            <Tag.CloseTrigger
              aria-label={t('移除 {name}', { name: model })}
              onClick={() => onChange(models.filter((other) => other !== model))}
            />
          </Tag.EndElement>
        </Tag.Root>
      ))}
    </Wrap>
  )
}

type CustomNameProps = {
  models: string[]
  onChange: (models: string[]) => void
  onBlur: () => void
  inputRef: Ref<HTMLInputElement>
}

/** A name that is on no list; what is left in the field is taken when it is left. */
function CustomName({ models, onChange, onBlur, inputRef }: CustomNameProps) {
  const [typed, setTyped] = useState('')
  const add = () => {
    const names = namesIn(typed)
    if (names.length > 0) onChange([...new Set([...models, ...names])])
    setTyped('')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || isComposing(event) || typed.trim() === '') return
    event.preventDefault()
    add()
  }
  return (
    <HStack w="full" gap="2">
      <Input
        ref={inputRef}
        name="models"
        value={typed}
        aria-label={t('自定义模型名称')}
        placeholder={t('自定义模型名称，多个用逗号分隔')}
        fontFamily="mono"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={onKeyDown}
        onBlur={() => {
          add()
          onBlur()
        }}
      />
      <Button disabled={typed.trim() === ''} onClick={add}>
        {t('添加')}
      </Button>
    </HStack>
  )
}
