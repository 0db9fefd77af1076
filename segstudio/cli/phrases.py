"""Chinese by English: every phrase of the command line that is not an error."""

from __future__ import annotations

CHINESE: dict[str, str] = {
    # verbs
    "Segment, correct and train on very large images.": "对超大图像进行分割、修正和训练。",
    "Segment the sample that comes along.": "分割自带的示例图像。",
    "Show what is known about an image.": "显示图像的信息。",
    "Write a mask of classes for each image.": "为每幅图像写出类别掩膜。",
    "Train a network on labelled images and write a model.": "用已标注的图像训练网络并写出模型。",
    "Score predicted masks against true ones.": "将预测掩膜与真值掩膜比较并评分。",
    "The models that are there.": "可用的模型。",
    "Name every model.": "列出所有模型。",
    "Show a model's card.": "显示模型的卡片。",
    "Write a model's ONNX graphs, checked against the model.": "写出模型的 ONNX 计算图，并与模型核对。",
    # arguments and options
    "Show the version.": "显示版本。",
    "Print one JSON document.": "输出一个 JSON 文档。",
    "An image file.": "图像文件。",
    "Also show the values of this pixel (repeatable).": "同时显示此像素的值（可重复）。",
    "Files, patterns or folders.": "文件、模式或文件夹。",
    "A model's name, or the path of its card.": "模型名称，或其卡片文件的路径。",
    "Folder for the masks.": "存放掩膜的文件夹。",
    "Folder for the results.": "存放结果的文件夹。",
    "Folder for the graphs.": "存放计算图的文件夹。",
    "Patch side in pixels.": "图块边长（像素）。",
    "Overlap of neighbouring patches in pixels.": "相邻图块的重叠（像素）。",
    "How overlapping patches are joined.": "重叠图块的拼接方式。",
    "auto, whole, off, only, or the side of the context in patch sides.": (
        "auto、whole、off、only，或以图块边长计的上下文边长。"
    ),
    "Where to compute.": "计算设备。",
    "What computes.": "计算引擎。",
    "Only this part of each image.": "只处理每幅图像的这一部分。",
    "Bands for the model, counted from 1, such as 3,2,1.": "供模型使用的波段，从 1 开始计，例如 3,2,1。",
    "Format of the masks.": "掩膜的格式。",
    "Predicted mask, or a folder of them.": "预测掩膜，或存放它们的文件夹。",
    "True mask, or a folder of them with the same names.": "真值掩膜，或存放同名掩膜的文件夹。",
    "Score only the regions that this splits.json names for --part.": "只计算此 splits.json 为 --part 指定的区域。",
    "IoU, measured on": "IoU（测量于）",
    "Which regions of --splits.": "使用 --splits 中的哪一部分区域。",
    "mean IoU of the commonest class everywhere": "全部判为最常见类别时的平均 IoU",
    "Class table; else classes.json beside the truth.": "类别表；默认为真值旁的 classes.json。",
    "Folder with images/, masks/ and classes.json.": "包含 images/、masks/ 和 classes.json 的文件夹。",
    "The network to train.": "要训练的网络。",
    "The model's card (NAME.json), or the folder for it.": "模型的卡片文件（NAME.json），或存放它的文件夹。",
    "Start from the encoder of this model.": "以此模型的编码器为起点。",
    "Optimiser steps.": "优化步数。",
    "Patches a step.": "每步的图块数。",
    "Peak learning rate.": "学习率峰值。",
    "Of the random numbers.": "随机数种子。",
    "Folder for the state of the training.": "存放训练状态的文件夹。",
    "Go on from the state in the run's folder.": "从训练文件夹中的状态继续。",
    "it is two whole numbers, X,Y": "应为两个整数 X,Y",
    "it is four whole numbers, X,Y,WIDTH,HEIGHT, the last two above 0": "应为四个整数 X,Y,宽,高，后两个须大于 0",
    "it is whole numbers from 1, such as 3,2,1": "应为从 1 开始的整数，例如 3,2,1",
    # stages of a job
    "predict": "预测",
    "score": "评分",
    "train": "训练",
    "index labels": "索引标注",
    # results
    "none": "无",
    "class": "类别",
    "pixels": "像素",
    "mean": "平均",
    "accuracy": "准确率",
    "file": "文件",
    "network": "网络",
    "classes": "类别",
    "bands": "波段",
    "patch": "图块",
    "overlap": "重叠",
    "licence": "许可",
    "scores": "评分",
    "mask": "掩膜",
    "overlay": "叠加图",
    "report": "报告",
    "step": "步",
    "loss": "损失",
    "seconds_per_step": "每步秒数",
    "miou": "mIoU",
    "{count} of {total} images failed.": "{total} 幅图像中有 {count} 幅失败。",
    "{image}, {width} x {height} pixels, with the model {model}": "{image}，{width} x {height} 像素，模型 {model}",
    "{patches} patches in {seconds:.1f} s: {megapixels_per_second:.2f} megapixels per second": (
        "{patches} 个图块用时 {seconds:.1f} 秒：每秒 {megapixels_per_second:.2f} 百万像素"
    ),
    "{backend} on {device}, {peak_rss_mb:.0f} MB of memory at most": (
        "{backend}，设备 {device}，内存最多 {peak_rss_mb:.0f} MB"
    ),
    "Training scores: most of this picture was in the training set, so they say nothing about other pictures.": (
        "训练评分：此图的大部分属于训练集，因此不能说明在其他图像上的表现。"
    ),
    # the program
    "Stopping; press Ctrl+C again to end at once.": "正在停止；再按一次 Ctrl+C 立即结束。",
    "Cancelled.": "已取消。",
    "There is no {kind} called {name}; known are: {known}.": "没有名为 {name} 的 {kind}；已知的有：{known}。",
    "This version has no window yet; begin with one of: {verbs}.": "此版本还没有窗口；请以下列命令之一开头：{verbs}。",
    "Something unexpected went wrong ({kind}). Please send the log: {path}": (
        "发生意外错误（{kind}）。请发送日志：{path}"
    ),
    "Something unexpected went wrong ({kind}), and no log could be written.": (
        "发生意外错误（{kind}），且无法写入日志。"
    ),
}
