"""The words of every error code, in English and Simplified Chinese.

`{subject}` is the file, model or option; other fields are the error's values.
"""

from __future__ import annotations

from typing import NamedTuple


class Words(NamedTuple):
    """What happened, and what to do about it."""

    what: str
    remedy: str


ERRORS: dict[str, tuple[Words, Words]] = {
    "image.missing": (
        Words(
            "There is no file {subject}",
            "Check the name; a folder or a pattern such as 'images/*.tif' will do as well.",
        ),
        Words("找不到文件 {subject}", "请检查名称；也可以给出文件夹或 'images/*.tif' 这样的模式。"),
    ),
    "image.is_folder": (
        Words("{subject} is a folder, not an image", "Name a file in it."),
        Words("{subject} 是文件夹，不是图像", "请指定其中的一个文件。"),
    ),
    "image.no_permission": (
        Words(
            "{subject} may not be read", "Ask its owner for the right to read it, or copy it to a folder of your own."
        ),
        Words("没有读取 {subject} 的权限", "请向其所有者申请读取权限，或把它复制到自己的文件夹。"),
    ),
    "image.empty": (
        Words("{subject} is empty: it has no byte", "Copy it again from where it came from."),
        Words("{subject} 是空文件，没有任何内容", "请从来源处重新复制。"),
    ),
    "image.unknown_format": (
        Words("{subject} is not in a known image format", "Save it as TIFF, PNG, JPEG, JPEG 2000, WebP or BMP."),
        Words("{subject} 不是已知的图像格式", "请把它另存为 TIFF、PNG、JPEG、JPEG 2000、WebP 或 BMP。"),
    ),
    "image.truncated": (
        Words("{subject} ends too early: a part of the file is missing", "Copy it again from where it came from."),
        Words("{subject} 不完整，缺少一部分内容", "请从来源处重新复制。"),
    ),
    "image.broken": (
        Words(
            "{subject} is damaged and cannot be decoded",
            "Copy it again, or save it anew with the program that made it.",
        ),
        Words("{subject} 已损坏，无法解码", "请重新复制，或用生成它的程序重新保存。"),
    ),
    "image.codec_missing": (
        Words(
            "{subject} is compressed in a way that cannot be decoded here",
            "Save it with deflate, LZW or JPEG compression.",
        ),
        Words("{subject} 的压缩方式在此无法解码", "请用 deflate、LZW 或 JPEG 压缩重新保存。"),
    ),
    "image.unsupported": (
        Words(
            "{subject} is a kind of image that cannot be used here",
            "Convert it to a TIFF or PNG of whole or real numbers.",
        ),
        Words("{subject} 属于此处不支持的图像类型", "请转换为整数或实数值的 TIFF 或 PNG。"),
    ),
    "image.implausible": (
        Words(
            "{subject} claims what its content cannot hold",
            "It is damaged or made to do harm: get it from a source you trust.",
        ),
        Words("{subject} 声称的大小与其内容不符", "文件已损坏或含有恶意：请从可信的来源获取。"),
    ),
    "image.too_large": (
        Words(
            "{subject} needs more memory at once than there is",
            "Save it as a tiled TIFF, which is read piece by piece.",
        ),
        Words("{subject} 一次需要的内存超过可用内存", "请另存为分块 TIFF，以便逐块读取。"),
    ),
    "image.outside": (
        Words(
            "The place {rect} lies outside {subject}, which has {size} pixels",
            "Places are X,Y or X,Y,WIDTH,HEIGHT, counted from 0 at the upper left corner.",
        ),
        Words(
            "位置 {rect} 超出了 {subject} 的范围，该图像为 {size} 像素",
            "位置写作 X,Y 或 X,Y,宽,高，从左上角的 0 开始计。",
        ),
    ),
    "output.not_writable": (
        Words("{subject} cannot be written", "Choose another folder with --out, or ask for the right to write there."),
        Words("无法写入 {subject}", "请用 --out 选择其他文件夹，或申请写入权限。"),
    ),
    "output.disk_full": (
        Words("There is no room left for {subject}", "Free some space, or choose another disk with --out."),
        Words("没有足够的空间写入 {subject}", "请释放一些空间，或用 --out 选择其他磁盘。"),
    ),
    "output.is_file": (
        Words("{subject} cannot be written, because a file stands where a folder is needed", "Choose another --out."),
        Words("无法写入 {subject}：需要文件夹的位置上是一个文件", "请用 --out 选择其他位置。"),
    ),
    "output.failed": (
        Words("Writing {subject} failed", "Check the disk and try again, or choose another folder with --out."),
        Words("写入 {subject} 失败", "请检查磁盘后重试，或用 --out 选择其他文件夹。"),
    ),
    "model.unknown": (
        Words(
            "There is no model or network called {subject}",
            "Known are: {known}. A model may also be named by its card's path.",
        ),
        Words("没有名为 {subject} 的模型或网络", "已知的有：{known}。也可以用卡片文件的路径指定模型。"),
    ),
    "model.missing_file": (
        Words(
            "The model's file {subject} is not there",
            "Keep a model's card, weights and graphs in one folder; copy them again.",
        ),
        Words("缺少模型文件 {subject}", "模型的卡片、权重和计算图须在同一文件夹中；请重新复制。"),
    ),
    "model.card_invalid": (
        Words("{subject} is not a model's card", "Name the .json file that was written together with the weights."),
        Words("{subject} 不是有效的模型卡片", "请指定与权重一起写出的 .json 文件。"),
    ),
    "model.card_too_new": (
        Words("{subject} was written by a newer version of this program", "Update the program."),
        Words("{subject} 由本程序的更新版本写出", "请更新本程序。"),
    ),
    "model.hash_mismatch": (
        Words(
            "{subject} is not the file that the model's card describes",
            "Copy the model again; it is damaged or mixed up.",
        ),
        Words("{subject} 与模型卡片的记录不符", "模型已损坏或被混用：请重新复制。"),
    ),
    "model.weights_mismatch": (
        Words("The weights in {subject} do not fit the network", "Use the weights that belong to the model's card."),
        Words("{subject} 中的权重与网络不匹配", "请使用与模型卡片配套的权重。"),
    ),
    "model.bands_mismatch": (
        Words(
            "{image} has {image_bands} band(s) (chosen: {chosen}), but the model {subject} takes {model_bands}",
            "Choose bands with --bands, or a model for such images.",
        ),
        Words(
            "{image} 有 {image_bands} 个波段（所选：{chosen}），而模型 {subject} 需要 {model_bands}",
            "请用 --bands 选择波段，或选用适合此类图像的模型。",
        ),
    ),
    "model.depth_mismatch": (
        Words(
            "{image} holds values of type {image_dtype}, but the model {subject} was trained on {model_dtype}",
            "Choose a model for such images, or convert the image.",
        ),
        Words(
            "{image} 的数值类型为 {image_dtype}，而模型 {subject} 是用 {model_dtype} 训练的",
            "请选用适合此类图像的模型，或转换图像。",
        ),
    ),
    "model.patch_side": (
        Words(
            "A patch side of {subject} does not work: it must be a multiple of {quantum}", "The nearest is {nearest}."
        ),
        Words("图块边长 {subject} 不可用：它必须是 {quantum} 的倍数", "最接近的是 {nearest}。"),
    ),
    "model.overlap": (
        Words(
            "An overlap of {subject} does not work: it must be a multiple of {quantum}, at most {most}",
            "The nearest is {nearest}.",
        ),
        Words("重叠 {subject} 不可用：它必须是 {quantum} 的倍数，且不超过 {most}", "最接近的是 {nearest}。"),
    ),
    "model.context": (
        Words(
            "The context {subject} does not work",
            "Use auto, whole, off, only, or the side of the context in patch sides, {low} to {high}.",
        ),
        Words(
            "上下文 {subject} 不可用", "请使用 auto、whole、off、only，或以图块边长计的上下文边长（{low} 到 {high}）。"
        ),
    ),
    "model.no_context": (
        Words("The model {subject} sees no context, so there are no scores of it alone", "Leave --context away."),
        Words("模型 {subject} 不使用上下文，因此没有仅基于上下文的结果", "请不要使用 --context。"),
    ),
    "model.device_missing": (
        Words(
            "The device {subject} cannot be used", "Use --device cpu, or install its driver and the torch made for it."
        ),
        Words("无法使用设备 {subject}", "请使用 --device cpu，或安装其驱动和相应的 torch。"),
    ),
    "model.export_differs": (
        Words(
            "{subject} was not kept: the exported graph gives other numbers than the network",
            "Update torch, and tell the developers the model's name.",
        ),
        Words("未保留 {subject}：导出的计算图与网络的结果不同", "请更新 torch，并把模型名称告诉开发者。"),
    ),
    "model.out_of_memory": (
        Words("The device has too little memory for {subject}", "Use a smaller --patch, or --device cpu."),
        Words("设备内存不足，无法运行 {subject}", "请减小 --patch，或使用 --device cpu。"),
    ),
    "data.missing": (
        Words(
            "There is no folder {subject}",
            "Check the name; a training set is a folder with images/, masks/ and classes.json.",
        ),
        Words("找不到文件夹 {subject}", "请检查名称；训练集是包含 images/、masks/ 和 classes.json 的文件夹。"),
    ),
    "data.empty": (
        Words(
            "{subject} holds no image", "Put images there, or name another folder; folders inside it are not searched."
        ),
        Words("{subject} 中没有图像", "请放入图像，或指定其他文件夹；不会搜索其子文件夹。"),
    ),
    "data.no_mask": (
        Words("{subject} has no mask", "Put a mask of the same name into masks/, or take the image away."),
        Words("{subject} 没有对应的掩膜", "请把同名掩膜放入 masks/，或移走该图像。"),
    ),
    "data.no_prediction": (
        Words("{folder} holds no prediction for {subject}", "Predict that image too, or take its true mask away."),
        Words("{folder} 中没有 {subject} 对应的预测", "请对该图像也进行预测，或移走它的真值掩膜。"),
    ),
    "data.ambiguous": (
        Words(
            "{subject} and {other} have one name: which of them is meant is not clear", "Rename or remove one of them."
        ),
        Words("{subject} 与 {other} 同名，无法确定指的是哪一个", "请重命名或移走其中之一。"),
    ),
    "data.size_mismatch": (
        Words(
            "{subject} has {size} pixels where {expected} are needed",
            "Compare masks and images of the same picture only.",
        ),
        Words("{subject} 的大小为 {size} 像素，应为 {expected}", "掩膜和图像必须属于同一幅画面。"),
    ),
    "data.class_table": (
        Words(
            "The class table {subject} cannot be used",
            'It is JSON: {{"classes": [{{"slot": 0, "name": "road", "colour": "#cc79a7"}}]}}; name it with --classes.',
        ),
        Words(
            "无法使用类别表 {subject}",
            '它应是 JSON：{{"classes": [{{"slot": 0, "name": "road", "colour": "#cc79a7"}}]}}；可用 --classes 指定。',
        ),
    ),
    "data.unknown_value": (
        Words(
            "{subject} holds the value {value}, which is no class; the classes are {slots}",
            "Correct the mask, or add the class to its table; 254 and 255 mean no label.",
        ),
        Words(
            "{subject} 含有不属于任何类别的值 {value}；类别为 {slots}",
            "请修正掩膜或在类别表中添加该类别；254 和 255 表示无标注。",
        ),
    ),
    "data.splits": (
        Words("The split table {subject} is wrong", "Correct it, or remove it to train on every image as a whole."),
        Words("划分表 {subject} 有误", "请修正；删除它则用全部图像训练。"),
    ),
    "data.no_labels": (
        Words(
            "{subject} has no labelled pixels to learn from",
            "Label some pixels, or check which part of the split they are in.",
        ),
        Words("{subject} 中没有可供学习的标注像素", "请标注一些像素，或检查它们属于哪一部分划分。"),
    ),
    "data.loss_not_finite": (
        Words(
            "Training went astray at {subject}: the loss is no number",
            "Lower --lr, and look at these places for odd values.",
        ),
        Words("训练在 {subject} 处发散：损失不是有效数值", "请降低 --lr，并检查这些位置的异常值。"),
    ),
    "data.mixed_images": (
        Words(
            "{subject} has {bands} bands of {dtype}, but {first} has {first_bands} of {first_dtype}",
            "Train on images of one kind; convert or take away the others.",
        ),
        Words(
            "{subject} 有 {bands} 个 {dtype} 波段，而 {first} 有 {first_bands} 个 {first_dtype} 波段",
            "请只用同一类图像训练；转换或移走其他图像。",
        ),
    ),
    "data.run_exists": (
        Words("{subject} already holds a training run", "Add --resume to go on with it, or choose another --run."),
        Words("{subject} 中已有一次训练", "请加上 --resume 继续该训练，或指定其他 --run。"),
    ),
    "data.run_damaged": (
        Words("The state of the run in {subject} is damaged", "Give another --run, or take that folder away."),
        Words("{subject} 中的训练状态已损坏", "请指定其他 --run，或移走该文件夹。"),
    ),
    "data.resume_mismatch": (
        Words(
            "The run in {subject} was started with other options and cannot be resumed with these",
            "Give the same options, or another --run.",
        ),
        Words("{subject} 中的训练以其他选项开始，无法用当前选项继续", "请使用相同的选项，或指定其他 --run。"),
    ),
    "data.option": (
        Words("The option {subject} has a value that does not work", "`segstudio VERB --help` tells what it means."),
        Words("选项 {subject} 的值不可用", "可用 `segstudio 命令 --help` 查看其含义。"),
    ),
}
